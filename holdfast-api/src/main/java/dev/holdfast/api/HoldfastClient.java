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
 * A client of a Holdfast server: what {@link dev.holdfast.Holdfast} is on a database. Its acts are
 * those of {@link dev.holdfast.queue.Acts}. A request that the server refuses throws a {@link
 * HoldfastException} with the server's code; a server that cannot be reached or does not answer in
 * time is {@link ErrorCode#UNAVAILABLE}. Immutable and thread-safe; every {@code with…} returns a
 * changed copy that shares its connections. Closing one closes those of all.
 */
public final class HoldfastClient implements AutoCloseable {

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  // A waiting claim is never interrupted: a job that it was just granted would have no worker until
  // its lease ends. So a worker that closes waits for its claim, for two seconds at most. And as
  // far as a worker can tell, a lease begins when its claim was sent, so the wait is part of it.
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
   * A client without a token, for the default tenant.
   *
   * @param url the server's address, like {@code http://127.0.0.1:8080}
   * @throws HoldfastException with {@code BAD_CONFIG} for anything else
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

  /**
   * The tenant. Defaults to the token's own, and to {@code default} for a token that belongs to
   * none.
   */
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
   * How long an answer may take, besides the time that the server was asked to wait. A worker's
   * timeout should be well below the shortest lease of its jobs. Defaults to 10 s.
   */
  public HoldfastClient withTimeout(Duration timeout) {
    if (!timeout.isPositive()) {
      throw HoldfastException.badConfig("client.timeout", timeout, "more than nothing");
    }
    return new HoldfastClient(new Wire(wire.http(), wire.base(), wire.headers(), timeout), codec);
  }

  /** The HTTP client to use: for proxies, own certificates, or another connect timeout than 5 s. */
  public HoldfastClient withHttpClient(HttpClient http) {
    return new HoldfastClient(new Wire(http, wire.base(), wire.headers(), wire.timeout()), codec);
  }

  /** How arguments and results become JSON. */
  public HoldfastClient withCodec(Codec codec) {
    return new HoldfastClient(wire, codec);
  }

  /** Closes the connections and ends their threads. Not needed if the process ends anyway. */
  @Override
  public void close() {
    wire.http().shutdownNow();
  }

  /**
   * Enqueues a job once, even if the answer is lost and the request is sent again: a job without an
   * id gets one here.
   */
  public Enqueued enqueue(NewJob job) {
    NewJob named = named(job);
    Wire.Answer answer = wire.postRepeatable("/jobs", NewJobJson.write(named, codec));
    return enqueued(job, named, answer.body().uuid("id"), answer.status() == 201);
  }

  /**
   * Enqueues all jobs or none, up to 1000.
   *
   * @return one result per job, in their order
   */
  public List<Enqueued> enqueueAll(List<NewJob> jobs) {
    List<NewJob> named = jobs.stream().map(HoldfastClient::named).toList();
    ObjectNode body = Json.object();
    ArrayNode list = body.putArray("jobs");
    named.forEach(job -> list.add(NewJobJson.write(job, codec)));
    List<Fields> stored = wire.postRepeatable("/jobs/batch", body).body().objects("jobs");
    if (stored.size() != jobs.size()) { // one was deleted before the server read it back
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

  // An id that was made here is new: if the job exists already, an earlier try of this request
  // stored it.
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

  /** The first page of the jobs that match, newest first. */
  public JobPage list(JobFilter filter, int limit) {
    return list(JobQuery.write(filter), limit);
  }

  /**
   * The next page of the jobs that match.
   *
   * @param after the {@code after} of the page before
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
   * @param offset the offset of the part before; 0 begins the log
   * @param limit the largest number of lines
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

  /**
   * Declares a paused or failed job succeeded with this result, because a person did its work by
   * hand.
   */
  public Job resolve(UUID id, Object result, Because why) {
    ObjectNode body = why.json();
    Json.put(body, "result", new Payload(codec.encode(result)));
    return act(id, JobAct.RESOLVE, body);
  }

  // Sent only once: if the act was done and its answer lost, the job's state may no longer allow
  // it.
  private Job act(UUID id, JobAct what, ObjectNode body) {
    return JobJson.read(wire.post("/jobs/" + id + "/" + what.stored(), body).body());
  }

  /**
   * Sends any request of the API, also those that this class has no method for.
   *
   * @param path the path after {@code /api/v1}, like {@code /queues/mail}, with its parts encoded
   * @param body the body, for methods that take one
   * @return the body of the answer
   */
  public ObjectNode ask(
      String method, String path, Map<String, String> query, Optional<ObjectNode> body) {
    return wire.send(method, Wire.withQuery(path, query), body).body().json();
  }

  /** The tenant's leases, for a worker of your own making. */
  public HttpLeases leases() {
    return new HttpLeases(wire, Duration.ZERO);
  }

  /**
   * Builds a worker for the tenant's jobs. While it is idle, each claim waits for work at the
   * server as long as its poll interval, up to 2 s. A handler cannot share a transaction with the
   * completion of its job: {@code JobContext.inTransaction} needs a worker on the database.
   */
  public WorkerBuilder worker() {
    return worker(leases -> leases, List.of());
  }

  /**
   * The same, with a wrapper between the worker and its leases.
   *
   * @param around wraps the leases that the worker claims and finishes
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
