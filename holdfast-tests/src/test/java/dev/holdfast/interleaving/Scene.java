package dev.holdfast.interleaving;

import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.job.JobAct;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.queue.Acts;
import dev.holdfast.queue.Changes;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.rig.People;
import dev.holdfast.rig.Sandbox;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Ticker;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The tables before and after a play: sets them up, then sees that all is well and ends. */
final class Scene {

  static final String WORKER = "main";

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final Sandbox sandbox;
  private final Tables tables;
  private final Map<String, UUID> jobs = new HashMap<>();
  private final Map<String, Lease> leases = new HashMap<>();
  private final List<Lease> dispatched = new ArrayList<>();
  private final Set<UUID> mustRun = ConcurrentHashMap.newKeySet();
  private final Set<String> neverStarts = ConcurrentHashMap.newKeySet();
  private final Set<UUID> enqueued = ConcurrentHashMap.newKeySet();
  private final Set<Standing> standing = ConcurrentHashMap.newKeySet();
  private final Told told = new Told();
  private Instant now = START;
  private int mostHolders = 1;
  private final AtomicInteger slots = new AtomicInteger();

  Scene(Sandbox sandbox) throws SQLException {
    this.sandbox = sandbox;
    this.tables = new Tables(sandbox);
    sandbox.empty();
    sandbox.setClock(now);
  }

  Instant now() {
    return now;
  }

  UUID job(String name) {
    return jobs.get(name);
  }

  Lease lease(String name) {
    return leases.get(name);
  }

  Scene enqueue(String name, NewJob job) {
    jobs.put(name, sandbox.jobs().enqueue(job).id());
    return this;
  }

  /** Somebody was told that this is its job. */
  void enqueued(UUID id) {
    enqueued.add(id);
  }

  Scene queue(QueueSettings settings) {
    sandbox.queues().put("narrow", settings);
    return this;
  }

  Scene schedule(Schedule schedule) {
    sandbox.schedules().put(schedule, Actor.ADA);
    return this;
  }

  /** Takes the slot of now and enqueues its job, under a name. */
  Scene trigger(String name) {
    jobs.put(name, sandbox.schedules().trigger("brief", Optional.of(now), Actor.ADA));
    return this;
  }

  /** So many moments were due, whatever the order of things, and each ends as something. */
  Scene slots(int count) {
    slots.set(count);
    return this;
  }

  void oneSlotMore() {
    slots.incrementAndGet();
  }

  /** Claims all that can be; the others are parked. */
  Scene claim() {
    return claim(request(WORKER, 10));
  }

  /** The same under the id of {@link Parts#repeatable}. */
  Scene claimUnderAnId() {
    return claim(request("worker", 10).withClaimId("same"));
  }

  /** The same for a worker that says when it starts them. */
  Scene dispatch() {
    Set<Lease> before = Set.copyOf(leases.values());
    claim(request(WORKER, 10).acknowledging());
    leases.values().stream()
        .filter(lease -> lease.needs().subject().isPresent() && !before.contains(lease))
        .forEach(dispatched::add);
    return this;
  }

  private Scene claim(ClaimRequest request) {
    engine()
        .claim(request)
        .leases()
        .forEach(lease ->
            jobs.forEach((name, id) -> {
              if (id.equals(lease.key().jobId())) {
                leases.put(name, lease);
              }
            }));
    return this;
  }

  Scene later(int seconds) {
    now = now.plusSeconds(seconds);
    try {
      sandbox.setClock(now);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return this;
  }

  Scene act(String name, JobAct act) {
    perform(sandbox.acts(), act, false, name, Changes.NONE);
    return this;
  }

  Scene force(String name, JobAct act) {
    perform(sandbox.acts(), act, true, name, Changes.NONE);
    return this;
  }

  void perform(Acts acts, JobAct act, boolean force, String name, Changes changes) {
    if (new People(acts).perform(act, force, job(name), changes)) {
      told.acted(job(name), act);
    }
  }

  Told told() {
    return told;
  }

  Scene finish(String name, Outcome outcome) {
    engine().finish(List.of(new Finish(lease(name), outcome)));
    return this;
  }

  Scene capacity(String resource, int capacity) {
    sandbox.resources().setCapacity(resource, capacity, Actor.ADA);
    return atMost(capacity);
  }

  /** So many can have a resource at once, whatever the order of things. */
  Scene atMost(int holders) {
    mostHolders = holders;
    return this;
  }

  /** Its worker was told that it still has the job. */
  void mustRun(Lease lease) {
    mustRun.add(lease.key().jobId());
  }

  /** Its worker does not say that it starts. */
  void neverStarts(Lease lease) {
    neverStarts.add(named(lease));
  }

  private static String named(Lease lease) {
    return lease.key().jobId() + " " + lease.key().fence();
  }

  /** Somebody was told that this is where the job stands. */
  void mustStand(String name, String column, Object value) {
    standing.add(
        new Standing(
            "job %s: not %s %s".formatted(name, column, value),
            "SELECT lane.%s = '%s' FROM {schema}.job JOIN {schema}.lane ON lane.id = job.lane WHERE job.id = '%s'"
                .formatted(column, value, job(name))));
  }

  private record Standing(String complaint, String sql) {}

  private List<Lease> claimed() {
    return engine().claim(request(WORKER, 10)).leases();
  }

  static ClaimRequest request(String worker, int limit) {
    return ClaimRequest.of(worker, Set.of("default", "narrow"), limit).thoroughly();
  }

  private PgLeases engine() {
    return new PgLeases(sandbox.tenant(), Set::of, new LanePositions(() -> 0), () -> 0, () -> {});
  }

  /** What is wrong after a play, in which these leases were granted. */
  List<String> complaints(List<Lease> granted) throws SQLException {
    List<String> complaints = new ArrayList<>(tables.violations(mostHolders));
    complaints.addAll(tables.twice());
    complaints.addAll(neitherRunningNorEnded(granted));
    complaints.addAll(told.complaints(tables));
    complaints.addAll(tables.subjectsElsewhere());
    for (Lease lease : dispatched) {
      told.complaint(lease, tables).ifPresent(complaints::add);
    }
    List<String> running = tables.column("SELECT id FROM {schema}.job WHERE worker IS NOT NULL");
    mustRun.stream()
        .filter(job -> !running.contains(job.toString()))
        .forEach(job -> complaints.add("taken from its worker after a beat: " + job));
    tables.column("SELECT id || ' ' || fence FROM {schema}.job WHERE state = 'running'").stream()
        .filter(neverStarts::contains)
        .forEach(lease -> complaints.add("started by nobody who has it: " + lease));
    for (Standing each : standing) {
      if (!tables.column(each.sql).equals(List.of("t"))) {
        complaints.add(each.complaint);
      }
    }
    if (slots.get() > 0) {
      tick();
    }
    complaints.addAll(tables.tooManyRuns());
    complaints.addAll(tables.tooManyInAQueue());
    List<String> known = tables.column("SELECT id FROM {schema}.job_all");
    enqueued.stream()
        .filter(job -> !known.contains(job.toString()))
        .forEach(job -> complaints.add("told of a job that is not there: " + job));
    sandbox.queues().put("narrow", QueueSettings.DEFAULTS); // so that all of them end
    List<Lease> open = new ArrayList<>(granted);
    open.addAll(leases.values());
    // Without the reaper, who would find those whose wake-up was lost.
    int most = jobs.size() + enqueued.size() + 2;
    for (int round = 0; round < most && !unfinished().isEmpty(); round++) {
      resolvePaused();
      succeed(open);
      open = claimed();
    }
    complaints.addAll(tables.violations(mostHolders));
    List<String> taken = tables.column("SELECT scheduled_for || ' ' || status FROM {schema}.slot");
    if (taken.size() != slots.get() || taken.stream().anyMatch(slot -> slot.endsWith("queued"))) {
      complaints.add("not " + slots + " slots that ended: " + taken);
    }
    unfinished().forEach(job -> complaints.add("never ended: " + job));
    return complaints;
  }

  // A lease runs until its end is on record, whether the job was then given to somebody else,
  // queued again or finished.
  private List<String> neitherRunningNorEnded(List<Lease> granted) throws SQLException {
    List<String> known =
        tables.column(
            "SELECT id || ' ' || fence FROM {schema}.job WHERE worker IS NOT NULL"
                + " UNION ALL SELECT job_id || ' ' || fence FROM {schema}.attempt_all");
    return granted.stream()
        .map(Scene::named)
        .filter(lease -> !known.contains(lease))
        .map(lease -> "given to somebody, neither running nor ended: " + lease)
        .toList();
  }

  // A schedule that somebody else was at is the next tick's.
  private void tick() {
    new Ticker(sandbox.tenant(), new JacksonCodec(), sandbox.jobs(), sandbox.acts()).tick();
  }

  private void succeed(List<Lease> open) {
    if (!open.isEmpty()) {
      engine().finish(open.stream().map(lease -> new Finish(lease, Outcome.succeeded())).toList());
    }
  }

  private void resolvePaused() throws SQLException {
    for (String id : tables.column("SELECT id FROM {schema}.job WHERE state = 'paused'")) {
      sandbox.acts().resolve(UUID.fromString(id), 1, Actor.ADA);
    }
  }

  private List<String> unfinished() throws SQLException {
    Map<String, String> names = new HashMap<>();
    jobs.forEach((name, id) -> names.put(id.toString(), name));
    return tables.column("SELECT id FROM {schema}.job").stream()
        .map(id -> names.getOrDefault(id, id))
        .toList();
  }
}
