package dev.holdfast.api;

import dev.holdfast.codec.Codec;
import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.AttemptRecord;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobAct;
import dev.holdfast.job.JobIds;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.queue.Enqueued;
import dev.holdfast.queue.JobFilter;
import dev.holdfast.queue.JobPage;
import dev.holdfast.queue.LogChunk;
import dev.holdfast.queue.Why;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.wake.Bell;
import dev.holdfast.worker.WorkerBuilder;
import dev.holdfast.worker.WorkerConfig;
import dev.holdfast.worker.WorkerDependencies;
import dev.holdfast.worker.WorkerDependencies.Background;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A Holdfast server, from afar: what {@link dev.holdfast.Holdfast} is on a database. What the
 * server refuses comes as a {@link HoldfastException} with the server's code; one that cannot be
 * reached is {@link ErrorCode#UNAVAILABLE}. Immutable and thread-safe; every {@code with…} answers
 * a changed copy that shares its connections. Closing one ends those of all.
 */
public final class HoldfastClient implements AutoCloseable {

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  // A claim that waits is never cut short: what it was just given would be nobody's until its lease
  // ends. So a worker that closes waits for it, and two seconds is what that may cost. A waiting
  // claim also uses up the beginning of the lease that it brings, as far as its worker can tell.
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(2);

  private static final Map<String, String> SAID =
      Map.of(ApiVersion.HEADER, String.valueOf(ApiVersion.CURRENT));

  private final Wire wire;
  private final Codec codec;

  private HoldfastClient(Wire wire, Codec codec) {
    this.wire = wire;
    this.codec = codec;
  }

  /**
   * Without a token, in the default tenant.
   *
   * @param url of the server, like {@code http://127.0.0.1:8080}
   */
  public static HoldfastClient at(String url) {
    HttpClient http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT)
            .build();
    return new HoldfastClient(new Wire(http, base(url), SAID, TIMEOUT), new JacksonCodec());
  }

  private static String base(String url) {
    if (!url.matches("https?://[^/?#\\s]+(/[^?#\\s]*)?")) {
      throw HoldfastException.badConfig("client.url", url, "like http://127.0.0.1:8080");
    }
    return url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
  }

  public HoldfastClient withToken(String token) {
    return withHeader("Authorization", "Bearer " + token);
  }

  /** Defaults to the token's own, and to {@code default} for one that belongs to none. */
  public HoldfastClient withTenant(TenantName tenant) {
    return withHeader("X-Holdfast-Tenant", tenant.value());
  }

  private HoldfastClient withHeader(String name, String value) {
    Map<String, String> headers = new HashMap<>(wire.headers());
    headers.put(name, value);
    return new HoldfastClient(
        new Wire(wire.http(), wire.base(), Map.copyOf(headers), wire.timeout()), codec);
  }

  /**
   * How long an answer may take, beside what it was asked to wait. A worker's should be well below
   * the shortest lease of its jobs. Defaults to 10 s.
   */
  public HoldfastClient withTimeout(Duration timeout) {
    if (!timeout.isPositive()) {
      throw HoldfastException.badConfig("client.timeout", timeout, "more than nothing");
    }
    return new HoldfastClient(new Wire(wire.http(), wire.base(), wire.headers(), timeout), codec);
  }

  /** For proxies, certificates of one's own, and another time to connect than 5 s. */
  public HoldfastClient withHttpClient(HttpClient http) {
    return new HoldfastClient(new Wire(http, wire.base(), wire.headers(), wire.timeout()), codec);
  }

  /** How arguments and results become JSON. */
  public HoldfastClient withCodec(Codec codec) {
    return new HoldfastClient(wire, codec);
  }

  /** Ends connections and their threads. Only for those who are done before their process is. */
  @Override
  public void close() {
    wire.http().shutdownNow();
  }

  /**
   * Enqueues a job, once, even when the answer got lost and is asked for again: one without an id
   * gets it here.
   */
  public Enqueued enqueue(NewJob job) {
    NewJob named = named(job);
    Wire.Answer answer = wire.postRepeatable("/jobs", NewJobJson.write(named, codec));
    return enqueued(job, named, answer.body().uuid("id"), answer.status() == 201);
  }

  /** All of them or none. Up to 1000. */
  public List<Enqueued> enqueueAll(List<NewJob> jobs) {
    List<NewJob> named = jobs.stream().map(HoldfastClient::named).toList();
    ObjectNode body = Json.object();
    ArrayNode list = body.putArray("jobs");
    named.forEach(job -> list.add(NewJobJson.write(job, codec)));
    List<Fields> stored = wire.postRepeatable("/jobs/batch", body).body().objects("jobs");
    if (stored.size() != jobs.size()) { // somebody deleted one between two looks of the server
      throw new HoldfastException(ErrorCode.NOT_FOUND, "some of the jobs are gone already");
    }
    List<Enqueued> enqueued = new ArrayList<>();
    for (int i = 0; i < stored.size(); i++) {
      Fields job = stored.get(i);
      enqueued.add(enqueued(jobs.get(i), named.get(i), job.uuid("id"), job.flag("created")));
    }
    return enqueued;
  }

  private static NewJob named(NewJob job) {
    return job.id().isPresent() ? job : job.withId(JobIds.next());
  }

  // An id that was made here is nobody else's: if it is there already, we put it there.
  private static Enqueued enqueued(NewJob asked, NewJob named, UUID id, boolean created) {
    boolean ours = asked.id().isEmpty() && named.id().equals(Optional.of(id));
    return new Enqueued(id, created || ours);
  }

  public Optional<Job> get(UUID id) {
    try {
      return Optional.of(JobJson.read(look(id, "").body()));
    } catch (HoldfastException e) {
      if (e.code() == ErrorCode.NOT_FOUND) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** The first of those that are meant, newest first. */
  public JobPage list(JobFilter filter, int limit) {
    return list(JobQuery.write(filter), limit);
  }

  /**
   * Those that come after.
   *
   * @param after where the page before ended
   */
  public JobPage list(JobFilter filter, UUID after, int limit) {
    Map<String, String> query = new LinkedHashMap<>(JobQuery.write(filter));
    query.put("after", after.toString());
    return list(query, limit);
  }

  private JobPage list(Map<String, String> asked, int limit) {
    Map<String, String> query = new LinkedHashMap<>(asked);
    query.put("limit", String.valueOf(limit));
    Fields page = wire.get("/jobs", query).body();
    return new JobPage(
        page.objects("jobs").stream().map(JobJson::read).toList(), page.optionalUuid("after"));
  }

  public List<AttemptRecord> attempts(UUID id) {
    List<AttemptRecord> attempts = new ArrayList<>();
    Fields page = look(id, "/attempts").body();
    attempts.addAll(HistoryJson.readAttempts(page));
    while (page.optionalNumber("after").isPresent()) {
      page =
          wire.get(
                  "/jobs/" + id + "/attempts",
                  Map.of("after", String.valueOf(attempts.getLast().fence())))
              .body();
      attempts.addAll(HistoryJson.readAttempts(page));
    }
    return attempts;
  }

  public Why why(UUID id) {
    return HistoryJson.readWhy(look(id, "/why").body());
  }

  /**
   * A part of what a job's attempts logged.
   *
   * @param offset where the part before said the next begins; 0 is the start
   */
  public LogChunk log(UUID id, long offset, int limit) {
    return HistoryJson.readLog(
        wire.get(
                "/jobs/" + id + "/logs",
                Map.of("offset", String.valueOf(offset), "limit", String.valueOf(limit)))
            .body());
  }

  private Wire.Answer look(UUID id, String what) {
    return wire.get("/jobs/" + id + what, Map.of());
  }

  public Job cancel(UUID id, Because why) {
    return act(id, JobAct.CANCEL, why.json());
  }

  public Job stop(UUID id, Because why) {
    return act(id, JobAct.STOP, why.json());
  }

  public Job pause(UUID id, Because why) {
    return act(id, JobAct.PAUSE, why.json());
  }

  public Job resume(UUID id, Because why) {
    return act(id, JobAct.RESUME, why.json());
  }

  public Job retry(UUID id, Because why) {
    return act(id, JobAct.RETRY, why.json());
  }

  public Job requeue(UUID id, Because why) {
    return act(id, JobAct.REQUEUE, why.json());
  }

  public Job fail(UUID id, Because why) {
    return act(id, JobAct.FAIL, why.json());
  }

  /** Somebody did by hand what the job was to do, with this result. */
  public Job resolve(UUID id, Object result, Because why) {
    ObjectNode body = why.json();
    Json.put(body, "result", new Payload(codec.encode(result)));
    return act(id, JobAct.RESOLVE, body);
  }

  // Asked only once: what was done and is asked for again may no longer be allowed.
  private Job act(UUID id, JobAct what, ObjectNode body) {
    return JobJson.read(wire.post("/jobs/" + id + "/" + what.stored(), body).body());
  }

  /**
   * Asks for anything that the API has, also for what this class has no method for.
   *
   * @param path after {@code /api/v1}, like {@code /queues/mail}, with its parts encoded
   * @param body for methods that take one
   */
  public ObjectNode ask(
      String method, String path, Map<String, String> query, Optional<ObjectNode> body) {
    return wire.send(method, Wire.withQuery(path, query), body).body().json();
  }

  /** Leases, for workers of one's own. */
  public HttpLeases leases() {
    return new HttpLeases(wire, Duration.ZERO);
  }

  /**
   * A worker for the tenant's jobs. While it has nothing to do, each request waits for work at the
   * server as long as its poll interval, up to 2 s. A handler cannot share a transaction with the
   * completion of its job: {@code JobContext.inTransaction} needs a worker on the database.
   */
  public WorkerBuilder worker() {
    return worker(leases -> leases, List.of());
  }

  /**
   * The same, for those who stand between a worker and its leases.
   *
   * @param background what runs as long as the worker does
   */
  public WorkerBuilder worker(UnaryOperator<LeaseSource> around, List<Background> background) {
    return new WorkerBuilder(
        codec,
        (config, kinds, listener) ->
            new WorkerDependencies(
                around.apply(leases().waiting(wait(config))), leases(), new Bell(), background));
  }

  private static Duration wait(WorkerConfig config) {
    return config.pollInterval().compareTo(LONGEST_WAIT) < 0 ? config.pollInterval() : LONGEST_WAIT;
  }
}
