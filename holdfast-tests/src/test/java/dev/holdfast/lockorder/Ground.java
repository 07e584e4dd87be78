package dev.holdfast.lockorder;

import dev.holdfast.audit.Act;
import dev.holdfast.fleet.FencelessAgents;
import dev.holdfast.hold.Holds;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Moved;
import dev.holdfast.job.Needs;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Subject;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.queue.Jobs;
import dev.holdfast.rig.Sandbox;
import dev.holdfast.slot.SlotStatus;
import dev.holdfast.slot.Slots;
import dev.holdfast.slot.Slots.Skipped;
import dev.holdfast.subject.Subjects;
import dev.holdfast.subject.Subjects.Move;
import dev.holdfast.tenant.Tenant;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jdbi.v3.core.HandleConsumer;

/**
 * Five rows of each sort. They lie on their pages in one order, the engine is told of them in
 * another, and neither is the one in which it is to lock them.
 */
final class Ground {

  static final int ROWS = 5;

  static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private static final List<Integer> TOLD = List.of(3, 0, 4, 2, 1);
  private static final List<Integer> LYING = List.of(1, 2, 4, 0, 3);

  private static final List<String> NAMES = List.of("a", "b", "c", "d", "e");

  // Half of them are negative numbers to Java.
  private static final List<UUID> JOBS =
      Stream.of("1", "4", "8", "a", "f")
          .map(digit -> UUID.fromString(digit + "1990000-0000-7000-8000-000000000000"))
          .toList();

  private static final ClaimRequest REQUEST =
      ClaimRequest.of("worker", Set.of("default"), ROWS).withClaimId("same");

  private static final List<Instant> MOMENTS = each(NOW::plusSeconds);

  private final Sandbox sandbox;
  private final Tenant tenant;
  private final Jobs jobs;
  private final Holds holds;
  private List<Lease> leases = List.of();

  /**
   * To be used by two threads, one after the other.
   *
   * @param sandbox for what is there before
   * @param tenant the same one, for what the engine then does
   * @param jobs the same one's
   */
  Ground(Sandbox sandbox, Tenant tenant, Jobs jobs) {
    this.sandbox = sandbox;
    this.tenant = tenant;
    this.jobs = jobs;
    this.holds = new Holds(tenant.db());
  }

  private static <T> List<T> each(IntFunction<T> one) {
    return IntStream.range(0, ROWS).mapToObj(one).toList();
  }

  private static <T> List<T> told(List<T> inOrder) {
    return TOLD.stream().map(inOrder::get).toList();
  }

  private static <T> List<T> lying(List<T> inOrder) {
    return LYING.stream().map(inOrder::get).toList();
  }

  // What is there.

  List<Row> resources() {
    lying(NAMES)
        .forEach(
            name -> write("INSERT INTO {schema}.resource (name) VALUES ('%s')".formatted(name)));
    return NAMES.stream().map(name -> Row.of("resource", "name", name)).toList();
  }

  List<Row> noResources() {
    return NAMES.stream()
        .map(name -> Row.made(name, "INSERT INTO {schema}.resource (name) VALUES ('" + name + "')"))
        .toList();
  }

  List<Row> runningJobs() {
    told(JOBS).forEach(id -> sandbox.jobs().enqueue(NewJob.of("deploy", 1).withId(id)));
    List<Lease> claimed = leases(sandbox.tenant()).claim(REQUEST).leases();
    leases = JOBS.stream().map(id -> ofJob(claimed, id)).toList();
    lying(JOBS)
        .forEach(id -> write("UPDATE {schema}.job SET message = '' WHERE id = '%s'".formatted(id)));
    return jobs();
  }

  List<Row> runningJobsThatFinishFirst() {
    List<Row> rows = runningJobs();
    return Stream.of(true, false)
        .flatMap(finishes ->
            IntStream.range(0, ROWS)
                .filter(i -> finishes(leases.get(i)) == finishes)
                .mapToObj(rows::get))
        .toList();
  }

  boolean finishes(Lease lease) {
    return leases.indexOf(lease) % 2 == 1;
  }

  List<Row> stoppingJobs() {
    List<Row> rows = runningJobs();
    lying(JOBS).forEach(id -> sandbox.acts().stop(id, Act.by("ada")));
    return rows;
  }

  /** Each for a resource of its own, of which there is room. */
  List<Row> waitingJobs() {
    resources();
    List<String> resources = told(NAMES);
    each(i -> NewJob.of("deploy", 1).withId(JOBS.get(i)).withResources(resources.get(i)))
        .forEach(sandbox.jobs()::enqueue);
    lying(JOBS)
        .forEach(id ->
            write(
                """
                UPDATE {schema}.job SET waiting_on = resources[1], waiting_since = '%s'
                 WHERE id = '%s'
                """
                    .formatted(NOW, id)));
    return jobs();
  }

  List<Row> noJobs() {
    sandbox.jobs().enqueue(NewJob.of("deploy", 1)); // so that there is a lane
    return JOBS.stream()
        .map(id ->
            Row.made(
                id.toString(),
                "INSERT INTO {schema}.job (id, lane, args)"
                    + " SELECT '%s', id, '1' FROM {schema}.lane LIMIT 1".formatted(id)))
        .toList();
  }

  private static List<Row> jobs() {
    return JOBS.stream().map(id -> Row.of("job", "id", id)).toList();
  }

  /** Of several schedules, so that their order is neither that of their moments nor of jobs. */
  List<Row> slots() {
    List<UUID> jobs = told(JOBS);
    jobs.forEach(id -> sandbox.jobs().enqueue(NewJob.of("deploy", 1).withId(id)));
    LYING.forEach(i ->
        write(
            """
            INSERT INTO {schema}.slot (schedule, scheduled_for, status, job_id, decided_at)
            VALUES ('%s', '%s', 'queued', '%s', '%s')
            """
                .formatted(NAMES.get(i / 2), MOMENTS.get(i % 2), jobs.get(i), NOW)));
    return jobs.stream().map(id -> Row.of("slot", "job_id", id)).toList();
  }

  List<Row> noSlots() {
    return MOMENTS.stream()
        .map(moment ->
            Row.made(
                moment.toString(),
                "INSERT INTO {schema}.slot (schedule, scheduled_for, status, decided_at)"
                    + " VALUES ('a', '%s', 'queued', '%s')".formatted(moment, NOW)))
        .toList();
  }

  List<Row> subjects() {
    lying(NAMES)
        .forEach(name ->
            write(
                "INSERT INTO {schema}.subject VALUES ('site', '%s', 'new', '%s', '%s')"
                    .formatted(name, JOBS.getFirst(), NOW)));
    return NAMES.stream().map(name -> Row.of("subject", "id", name)).toList();
  }

  List<Row> agents() {
    write("DELETE FROM {schema}.agent"); // which outlive the sandbox's other rows
    lying(NAMES)
        .forEach(name ->
            write(
                "INSERT INTO {schema}.agent (name, seen_at) VALUES ('%s', '%s')"
                    .formatted(name, NOW)));
    return NAMES.stream().map(name -> Row.of("agent", "name", name)).toList();
  }

  // What the engine does.

  void lock() {
    inTransaction(handle -> holds.lock(handle, told(NAMES)));
  }

  void lockSoon() {
    inTransaction(handle -> holds.lockSoon(handle, told(NAMES)));
  }

  void make() {
    inTransaction(handle -> holds.make(handle, told(NAMES)));
  }

  void wake() {
    inTransaction(handle -> holds.waiting().wake(handle, told(NAMES)));
  }

  void finish(Function<Lease, Outcome> outcome) {
    leases(tenant)
        .finish(
            told(leases).stream().map(lease -> new Finish(lease, outcome.apply(lease))).toList());
  }

  void enqueue() {
    jobs.enqueueAll(told(JOBS).stream().map(id -> NewJob.of("deploy", 1).withId(id)).toList());
  }

  void hear() {
    Map<String, Optional<String>> heard = new LinkedHashMap<>();
    told(NAMES).forEach(name -> heard.put(name, Optional.empty()));
    new FencelessAgents(tenant).beat(heard);
  }

  void follow() {
    Needs schedule =
        Needs.of(List.of(Needs.resourceOfSchedule("a")), Optional.empty(), Optional.empty());
    List<Moved> moved =
        JOBS.stream()
            .map(id ->
                new Moved(id, "deploy", "default", schedule, JobState.QUEUED, JobState.RUNNING, 1))
            .toList();
    inTransaction(handle -> new Slots(tenant.db()).follow(handle, moved));
  }

  void skip() {
    List<Skipped> skipped =
        told(MOMENTS).stream()
            .map(moment -> new Skipped(moment, SlotStatus.SKIPPED_MISFIRE, "late"))
            .toList();
    inTransaction(handle -> new Slots(tenant.db()).skip(handle, "a", skipped));
  }

  void move(boolean onlyOwn) {
    List<Move> moves =
        told(NAMES).stream()
            .map(name ->
                new Move(Subject.of("site", name, "during"), "active", JOBS.getFirst(), onlyOwn))
            .toList();
    inTransaction(handle -> new Subjects(tenant).move(handle, moves));
  }

  private void inTransaction(HandleConsumer<RuntimeException> work) {
    tenant.db().useTransaction(work);
  }

  private static PgLeases leases(Tenant tenant) {
    return new PgLeases(tenant, Set::of, new LanePositions(() -> 0), () -> 0, () -> {});
  }

  private static Lease ofJob(List<Lease> claimed, UUID id) {
    return claimed.stream()
        .filter(lease -> lease.key().jobId().equals(id))
        .findFirst()
        .orElseThrow();
  }

  private void write(String sql) {
    try (Statement statement = sandbox.connection().createStatement()) {
      statement.execute(sandbox.sql(sql));
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
