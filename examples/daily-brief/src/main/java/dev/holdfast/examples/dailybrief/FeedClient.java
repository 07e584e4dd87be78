package dev.holdfast.examples.dailybrief;

import dev.holdfast.examples.dailybrief.RssIngestion.Limits;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscribers;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Fetches feeds that changed since they were last fetched, within limits. Thread-safe. */
final class FeedClient {

  /** What came of asking for a feed. */
  sealed interface Answer {

    /** It is there, with what to say when asking the next time. */
    record Changed(InputStream body, Optional<String> etag, Optional<String> lastModified)
        implements Answer {}

    record NotModified() implements Answer {}

    /** There is nothing to read, for this reason. */
    record Unusable(String reason) implements Answer {}
  }

  private static final int OK = 200;
  private static final int NOT_MODIFIED = 304;

  private final HttpClient http =
      HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();

  Answer fetch(Source source, Limits limits) throws InterruptedException {
    HttpRequest request;
    try {
      request = request(source);
    } catch (IllegalArgumentException e) {
      return new Answer.Unusable("cannot be asked for: " + e.getMessage());
    }
    CompletableFuture<HttpResponse<byte[]>> response = http.sendAsync(request, within(limits));
    try {
      // The request's own timeout would end with the headers, and a body may take forever.
      return answer(response.get(limits.mostMillis(), TimeUnit.MILLISECONDS));
    } catch (TimeoutException e) {
      return new Answer.Unusable("took longer than " + limits.mostMillis() + " ms");
    } catch (ExecutionException e) {
      return new Answer.Unusable(String.valueOf(e.getCause()));
    } finally {
      response.cancel(true);
    }
  }

  private static HttpRequest request(Source source) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(source.rssUrl()))
            .header("User-Agent", "holdfast-daily-brief")
            .header(
                "Accept", "application/rss+xml, application/atom+xml, application/xml, text/xml");
    source.etag().ifPresent(etag -> request.header("If-None-Match", etag));
    source.lastModified().ifPresent(moment -> request.header("If-Modified-Since", moment));
    return request.build();
  }

  private static BodyHandler<byte[]> within(Limits limits) {
    return info ->
        info.statusCode() == OK
            ? new LimitedBody(limits.mostBytes())
            : BodySubscribers.replacing(new byte[0]);
  }

  private static Answer answer(HttpResponse<byte[]> response) {
    return switch (response.statusCode()) {
      case OK ->
          new Answer.Changed(
              new ByteArrayInputStream(response.body()),
              response.headers().firstValue("ETag"),
              response.headers().firstValue("Last-Modified"));
      case NOT_MODIFIED -> new Answer.NotModified();
      default -> new Answer.Unusable("answered " + response.statusCode());
    };
  }
}
