package dev.holdfast.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.audit.Act;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Moved;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Consequences;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.reap.Reaper;
import dev.holdfast.tenant.Db;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Covers("A13")
class TransitionHookTest {

  private static final Kind<String> DEPLOY = Kind.of("deploy", String.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private Holdfast hooked;
  private boolean broken;

  @BeforeEach
  void theApplicationHasATableOfItsOwn() {
    tenant.execute("CREATE TABLE {schema}.site (id text PRIMARY KEY, state text NOT NULL)");
    tenant.execute("INSERT INTO {schema}.site VALUES ('site:1', 'new')");
    hooked =
        Holdfast.builder(TestDatabase.shared().dataSource()).onTransition(this::follow).build();
  }

  @Test
  void the_applications_table_follows_a_job_from_start_to_end() {
    hooked.jobs(tenant.name()).enqueue(DEPLOY.job("x").withResources("site:1"));
    StringBuilder seen = new StringBuilder();

    try (Worker worker =
        hooked.worker(tenant.name()).handle(DEPLOY, (args, job) -> seen.append(state())).build()) {
      worker.runDue();
    }

    assertThat(seen.toString()).isEqualTo("running");
    assertThat(state()).isEqualTo("succeeded");
  }

  @Test
  void jobs_without_needs_are_followed_too() {
    hooked.jobs(tenant.name()).enqueue(DEPLOY.job("x"));

    try (Worker worker = hooked.worker(tenant.name()).handle(DEPLOY, (args, job) -> {}).build()) {
      worker.runDue();
    }

    assertThat(state()).isEqualTo("succeeded");
  }

  @ParameterizedTest
  @ValueSource(strings = {"DELETE FROM no_such", "SELECT 1 / 0"})
  void what_goes_wrong_in_a_hook_is_not_taken_for_the_engines_own_and_is_tried_again(String sql) {
    for (TransitionHook hook : List.of(atTheEnd(sql), wrapping(atTheEnd(sql)))) {
      hooked.jobs(tenant.name()).enqueue(DEPLOY.job("x"));
      PgLeases leases = leases(hook);
      Lease lease = leases.claim(ClaimRequest.of("w", Set.of("default"), 1)).leases().getFirst();

      List<FinishReply> replies = leases.finish(List.of(new Finish(lease, Outcome.succeeded())));

      assertThat(replies).singleElement().isInstanceOf(FinishReply.NotNow.class);
      assertThat(tenant.job(lease.key().jobId()).state()).isEqualTo(JobState.RUNNING);
    }
  }

  private static TransitionHook atTheEnd(String sql) {
    return (connection, moved) -> {
      if (moved.getFirst().to().isFinished()) {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
          statement.execute();
        }
      }
    };
  }

  /** As those do who talk to the database through a library. */
  private static TransitionHook wrapping(TransitionHook hook) {
    return (connection, moved) -> {
      try {
        hook.moved(connection, moved);
      } catch (SQLException e) {
        throw new IllegalStateException("the library's own", e);
      }
    };
  }

  @Test
  void a_reaper_gets_past_attempts_that_a_hook_does_not_let_it_end() {
    Kind<Integer> stuck = Kind.of("stuck", Integer.class);
    tenant.jobs().enqueueAll(IntStream.range(0, 500).mapToObj(stuck::job).toList());
    claim(500);
    UUID id = tenant.jobs().enqueue(DEPLOY.job("x")).id();
    claim(1);
    TransitionHook refusing =
        (connection, moved) -> {
          if (moved.stream().anyMatch(move -> move.kind().equals("stuck"))) {
            throw new IllegalStateException("not this kind");
          }
        };
    tenant.advance(Duration.ofSeconds(31));

    int ended = new Reaper(tenant.tenant(), () -> 0, Consequences.of(() -> {}, refusing)).runOnce();

    assertThat(ended).isEqualTo(1);
    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"lock_timeout", "statement_timeout"})
  void a_hook_that_does_not_want_to_wait_for_one_kind_keeps_no_other_job_from_its_end(
      String limit) {
    PgLeases leases = leases(impatient(limit));
    List<UUID> ids =
        Stream.of("stuck", "other", "other")
            .map(kind -> tenant.jobs().enqueue(NewJob.of(kind, 1)).id())
            .toList();
    List<Lease> claimed = leases.claim(ClaimRequest.of("w", Set.of("default"), 3)).leases();

    List<FinishReply> replies =
        whileTheSiteIsLocked(() ->
            leases.finish(
                claimed.stream().map(lease -> new Finish(lease, Outcome.succeeded())).toList()));

    assertThat(replies.getFirst()).isInstanceOf(FinishReply.NotNow.class);
    assertThat(ids)
        .extracting(id -> tenant.job(id).state())
        .containsExactly(JobState.RUNNING, JobState.SUCCEEDED, JobState.SUCCEEDED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"lock_timeout", "statement_timeout"})
  void nor_the_reaper_from_other_attempts_and_from_what_is_to_pass_on(String limit) {
    leavesSomethingBehind();
    UUID stuck = silent(NewJob.of("stuck", 1));
    UUID other = silent(NewJob.of("other", 1));

    whileTheSiteIsLocked(() -> reaper(impatient(limit)).runOnce());

    assertThat(tenant.job(stuck).state()).isEqualTo(JobState.RUNNING);
    assertThat(tenant.job(other).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.resources().get("site:1").holders()).isEmpty();
  }

  /** What a silent worker held is not free yet, but soon. */
  private void leavesSomethingBehind() {
    tenant.stopClock();
    silent(NewJob.of("deploy", 1).withResources("site:1"));
    tenant.reap();
    assertThat(tenant.resources().get("site:1").holders()).hasSize(1);
  }

  /** One whose worker has fallen silent for longer than its lease. */
  private UUID silent(NewJob job) {
    UUID id = tenant.jobs().enqueue(job).id();
    claim(1);
    tenant.advance(Duration.ofSeconds(31));
    return id;
  }

  private interface Sql {
    void on(Connection connection) throws SQLException;
  }

  @Test
  void an_error_of_a_hook_for_one_kind_keeps_no_other_job_from_its_end() {
    PgLeases leases = leases(when("stuck", connection -> missingClass()));
    List<UUID> ids =
        Stream.of("stuck", "other", "other")
            .map(kind -> tenant.jobs().enqueue(NewJob.of(kind, 1)).id())
            .toList();
    List<Lease> claimed = leases.claim(ClaimRequest.of("w", Set.of("default"), 3)).leases();

    List<FinishReply> replies =
        leases.finish(
            claimed.stream().map(lease -> new Finish(lease, Outcome.succeeded())).toList());

    assertThat(replies.getFirst()).isInstanceOf(FinishReply.NotNow.class);
    assertThat(ids)
        .extracting(id -> tenant.job(id).state())
        .containsExactly(JobState.RUNNING, JobState.SUCCEEDED, JobState.SUCCEEDED);
  }

  @Test
  void nor_does_an_error_of_a_hook_keep_the_reaper_from_other_attempts() {
    UUID stuck = silent(NewJob.of("stuck", 1));
    UUID other = silent(NewJob.of("other", 1));

    int ended = reaper(when("stuck", connection -> missingClass())).runOnce();

    assertThat(ended).isEqualTo(1);
    assertThat(tenant.job(stuck).state()).isEqualTo(JobState.RUNNING);
    assertThat(tenant.job(other).state()).isEqualTo(JobState.QUEUED);
  }

  private static void missingClass() {
    throw new NoClassDefFoundError("of a hook");
  }

  @Test
  void an_outcome_that_can_be_stored_in_no_way_keeps_no_other_job_from_its_end() {
    PgLeases leases =
        leases(
            when(
                "stuck",
                connection -> {
                  throw new IllegalStateException("not this kind");
                }));
    UUID stuck = tenant.jobs().enqueue(NewJob.of("stuck", 1)).id();
    UUID other = tenant.jobs().enqueue(NewJob.of("other", 1)).id();
    List<Lease> claimed = leases.claim(ClaimRequest.of("w", Set.of("default"), 2)).leases();
    Outcome noJson = Outcome.succeeded(new Payload("no JSON"));

    List<FinishReply> replies =
        leases.finish(
            List.of(
                new Finish(claimed.getFirst(), noJson),
                new Finish(claimed.getLast(), Outcome.succeeded())));

    assertThat(replies.getFirst()).isInstanceOf(FinishReply.NotNow.class);
    assertThat(tenant.job(stuck).state()).isEqualTo(JobState.RUNNING);
    assertThat(tenant.job(other).state()).isEqualTo(JobState.SUCCEEDED);
  }

  private static TransitionHook when(String kind, Sql sql) {
    return (connection, moved) -> {
      if (moved.stream()
          .anyMatch(move -> move.kind().equals(kind) && move.to() != JobState.RUNNING)) {
        sql.on(connection);
      }
    };
  }

  private TransitionHook impatient(String limit) {
    String update = tenant.tenant().db().sql("UPDATE {schema}.site SET state = 'seen'");
    return when(
        "stuck",
        connection -> {
          run(connection, "SET LOCAL " + limit + " = '50ms'");
          run(connection, update);
        });
  }

  private static void run(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.execute();
    }
  }

  private <T> T whileTheSiteIsLocked(Supplier<T> work) {
    Db db = tenant.tenant().db();
    return db.jdbi()
        .inTransaction(handle -> {
          handle.execute(db.sql("SELECT FROM {schema}.site FOR UPDATE"));
          return work.get();
        });
  }

  private Reaper reaper(TransitionHook hook) {
    return new Reaper(tenant.tenant(), () -> 0, Consequences.of(() -> {}, hook));
  }

  private PgLeases leases(TransitionHook hook) {
    return new PgLeases(
        tenant.tenant(),
        Set::of,
        new LanePositions(System::nanoTime),
        () -> 0,
        Consequences.of(() -> {}, hook));
  }

  private void claim(int jobs) {
    PgLeases leases =
        new PgLeases(
            tenant.tenant(), Set::of, new LanePositions(System::nanoTime), () -> 0, () -> {});
    assertThat(leases.claim(ClaimRequest.of("w", Set.of("default"), jobs)).leases()).hasSize(jobs);
  }

  @Test
  void an_act_and_the_applications_table_change_together_or_not_at_all() {
    UUID id = hooked.jobs(tenant.name()).enqueue(DEPLOY.job("x").withResources("site:1")).id();
    broken = true;

    assertThatThrownBy(() -> hooked.acts(tenant.name()).cancel(id, Act.by("ada")))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("transition hook");
    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(state()).isEqualTo("new");
    broken = false;
    hooked.acts(tenant.name()).cancel(id, Act.by("ada"));

    assertThat(state()).isEqualTo("cancelled");
  }

  private void follow(Connection connection, List<Moved> moved) throws SQLException {
    String sql = tenant.tenant().db().sql("UPDATE {schema}.site SET state = ? WHERE id = ?");
    for (Moved job : moved) {
      try (PreparedStatement update = connection.prepareStatement(sql)) {
        update.setString(1, job.to().stored());
        update.setString(2, "site:1");
        update.executeUpdate();
      }
    }
    if (broken) {
      throw new SQLException("the application's table is broken");
    }
  }

  private String state() {
    return String.valueOf(tenant.query("SELECT state FROM {schema}.site").getFirst().get("state"));
  }
}
