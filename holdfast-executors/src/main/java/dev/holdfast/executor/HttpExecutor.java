package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.worker.JobContext;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Makes HTTP calls, to allowed hosts only. Thread-safe. */
final class HttpExecutor implements KindExecutor {

  static final String NAME = "http";

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final int MOST_REDIRECTS = 5;
  private static final int MAX_BODY_BYTES = 1024 * 1024;
  private static final int MAX_RESULT_CHARS = 200_000; // the result must fit a payload
  private static final int MESSAGE_CHARS = 2_000;

  // Other headers may contain session cookies, which must not be stored.
  private static final Set<String> KEPT_HEADERS =
      Set.of("content-type", "content-length", "etag", "last-modified", "location", "retry-after");

  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .followRedirects(HttpClient.Redirect.NEVER) // followed below, within the site
          .connectTimeout(CONNECT_TIMEOUT)
          .build();
  private final AllowedHosts allowedHosts;
  private final Secrets secrets;

  HttpExecutor(ExecutorConfig config) {
    this(config, new AllowedHosts(config.allowedHosts()));
  }

  HttpExecutor(ExecutorConfig config, AllowedHosts allowedHosts) {
    this.allowedHosts = allowedHosts;
    this.secrets = new Secrets(config.secrets());
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Outcome run(@Nullable Object args, Runbook book, JobContext job)
      throws InterruptedException {
    HttpArgs call;
    List<String> hidden;
    try {
      HttpArgs said = HttpArgs.read(args);
      Map<String, String> named = secrets.named(said.secrets(), Map.of());
      call = said.with(named);
      hidden = secrets.toHide(named);
      HttpRequest unused = request(call, job); // refuses invalid headers
    } catch (HoldfastException e) {
      return permanent(e.code().name(), String.valueOf(e.getMessage()));
    }
    if (!allowedHosts.allow(call.url().getHost())) {
      return permanent("HOST_NOT_ALLOWED", "No calls to " + call.url().getHost() + " from here");
    }
    try {
      return follow(call, job, hidden);
    } catch (TimeoutException e) {
      return Outcome.failed(
          Failure.retryable("HTTP_TIMEOUT", call + " took more than " + call.timeout()));
    } catch (IOException e) {
      String why = SecretMask.mask(hidden, call + ": " + e.getMessage());
      return Outcome.failed(Failure.retryable("HTTP_UNREACHABLE", why));
    }
  }

  private Outcome follow(HttpArgs first, JobContext job, List<String> hidden)
      throws IOException, InterruptedException, TimeoutException {
    long untilNanos = System.nanoTime() + first.timeout().toNanos();
    HttpArgs call = first;
    for (int redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      if (allowedHosts.leadsAstray(call.url().getHost())) {
        return permanent(
            "HOST_NOT_ALLOWED",
            call.url().getHost() + " leads to where no calls are made from here");
      }
      HttpResponse<BoundedBody.Read> answer = send(request(call, job), untilNanos);
      Optional<String> location = redirect(answer);
      if (location.isEmpty()) {
        return outcome(call, answer, job, hidden);
      }
      Optional<URI> next = resolve(call.url(), location.get()).filter(call::isSameSite);
      if (next.isEmpty()) {
        return permanent("REDIRECT_REFUSED", call + " leads to another site");
      }
      call = call.at(next.get(), methodAfter(answer.statusCode(), call.method()));
    }
    return permanent(
        "TOO_MANY_REDIRECTS", first + " leads on more than " + MOST_REDIRECTS + " times");
  }

  private static HttpRequest request(HttpArgs call, JobContext job) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(call.url())
            .method(call.method(), body(call))
            // A job may run more than once; this lets the receiver recognise a repeat.
            .setHeader("Idempotency-Key", job.jobId().toString());
    job.trace()
        .ifPresent(trace -> {
          request.setHeader("traceparent", trace.parent());
          trace.state().ifPresent(state -> request.setHeader("tracestate", state));
        });
    call.headers()
        .forEach((name, value) -> {
          try {
            request.setHeader(name, value);
          } catch (IllegalArgumentException e) { // without its message, which may contain a secret
            throw HoldfastException.invalid("headers", name, "names and values that HTTP allows");
          }
        });
    return request.build();
  }

  private static BodyPublisher body(HttpArgs call) {
    return call.body().map(BodyPublishers::ofString).orElseGet(BodyPublishers::noBody);
  }

  // The client's own timeout covers only the head of an answer, and a body may arrive slowly.
  private HttpResponse<BoundedBody.Read> send(HttpRequest request, long untilNanos)
      throws IOException, InterruptedException, TimeoutException {
    CompletableFuture<HttpResponse<BoundedBody.Read>> answer =
        client.sendAsync(request, head -> new BoundedBody(MAX_BODY_BYTES));
    try {
      return answer.get(untilNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e.getCause());
    } finally {
      answer.cancel(true); // no effect if the answer has come
    }
  }

  private static Optional<String> redirect(HttpResponse<?> answer) {
    return switch (answer.statusCode()) {
      case 301, 302, 303, 307, 308 -> answer.headers().firstValue("location");
      default -> Optional.empty();
    };
  }

  private static Optional<URI> resolve(URI from, String location) {
    try {
      return Optional.of(from.resolve(location));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static String methodAfter(int status, String method) {
    boolean becomesGet =
        (status == 303 && !method.equals("HEAD")) || (status < 303 && method.equals("POST"));
    return becomesGet ? "GET" : method;
  }

  private static Outcome outcome(
      HttpArgs call, HttpResponse<BoundedBody.Read> answer, JobContext job, List<String> hidden) {
    int status = answer.statusCode();
    String body = SecretMask.mask(hidden, answer.body().text());
    if (status / 100 == 2) {
      return Outcome.succeeded(result(answer, body, job, hidden));
    }
    String message = call + " answered " + status + ": " + Limits.cut(body, MESSAGE_CHARS);
    boolean isRetryable = status == 408 || status == 429 || status / 100 == 5;
    return Outcome.failed(
        new Failure("HTTP_" + status, SecretMask.mask(hidden, message), isRetryable));
  }

  private static Payload result(
      HttpResponse<BoundedBody.Read> answer, String body, JobContext job, List<String> hidden) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("status", answer.statusCode());
    result.put("headers", headers(answer, hidden));
    int chars = Math.min(body.length(), MAX_RESULT_CHARS);
    while (true) {
      boolean isHalf = chars > 0 && Character.isHighSurrogate(body.charAt(chars - 1));
      result.put("body", body.substring(0, isHalf ? chars - 1 : chars));
      result.put("body_cut", answer.body().isCut() || chars < body.length());
      try {
        return job.payload(result);
      } catch (HoldfastException e) {
        if (chars == 0) {
          throw e;
        }
        chars /= 2; // JSON takes six bytes for some characters, UTF-8 three for others
      }
    }
  }

  private static Map<String, String> headers(HttpResponse<?> answer, List<String> hidden) {
    Map<String, String> kept = new LinkedHashMap<>();
    answer
        .headers()
        .map()
        .forEach((name, values) -> {
          if (KEPT_HEADERS.contains(name)) {
            kept.put(name, SecretMask.mask(hidden, String.join(", ", values)));
          }
        });
    return kept;
  }

  private static Outcome permanent(String code, String message) {
    return Outcome.failed(Failure.permanent(code, message));
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
