package dev.holdfast.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobIds;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Limits;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Placement;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.UniqueKey;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EnqueueTest {

  static final Kind<Integer> COUNT = Kind.of("count", Integer.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void a_job_is_stored_as_it_was_given() {
    Instant runAt = Instant.parse("2031-05-06T07:08:09Z");
    NewJob job =
        NewJob.of("email", new Payload("{\"b\": 1, \"a\":\"\\u0000 \\\\ \\t\"}"))
            .withQueue("mail")
            .withPriority(-5)
            .withRunAt(runAt)
            .withTags("x", "y \"quoted\" \\ {brace}");

    Job single = tenant.job(tenant.jobs().enqueue(job).id());
    Job bulk = tenant.job(tenant.jobs().enqueueAll(List.of(job)).getFirst().id());

    for (Job stored : List.of(single, bulk)) {
      assertThat(stored.kind()).isEqualTo("email");
      assertThat(stored.queue()).isEqualTo("mail");
      assertThat(stored.priority()).isEqualTo(-5);
      assertThat(stored.runAt()).isEqualTo(runAt);
      assertThat(stored.tags()).containsExactly("x", "y \"quoted\" \\ {brace}");
      assertThat(stored.args().json()).isEqualTo("{\"b\": 1, \"a\":\"\\u0000 \\\\ \\t\"}");
      assertThat(stored.state()).isEqualTo(JobState.QUEUED);
    }
  }

  @Test
  void enqueue_rolls_back_with_the_callers_transaction() throws Exception {
    try (Connection connection = TestDatabase.shared().dataSource().getConnection()) {
      connection.setAutoCommit(false);
      UUID id = tenant.jobs().enqueue(connection, COUNT.job(1)).id();
      List<Enqueued> bulk =
          tenant.jobs().enqueueAll(connection, List.of(COUNT.job(2), COUNT.job(3)));
      connection.rollback();

      assertThat(tenant.jobs().get(id)).isEmpty();
      assertThat(tenant.jobs().get(bulk.get(1).id())).isEmpty();
    }
    assertThat(tenant.query("SELECT FROM {schema}.job")).isEmpty();
  }

  @Test
  void a_connection_that_commits_by_itself_is_no_transaction_to_enqueue_in() throws Exception {
    try (Connection connection = TestDatabase.shared().dataSource().getConnection()) {
      assertThatExceptionOfType(HoldfastException.class)
          .isThrownBy(() -> tenant.jobs().enqueue(connection, COUNT.job(1)))
          .withMessageContaining("setAutoCommit(false)");
      assertThatExceptionOfType(HoldfastException.class)
          .isThrownBy(() -> tenant.jobs().enqueueAll(connection, List.of(COUNT.job(1))))
          .withMessageContaining("setAutoCommit(false)");
    }

    assertThat(tenant.query("SELECT FROM {schema}.job")).isEmpty();
  }

  @Test
  void enqueue_commits_with_the_callers_transaction_and_leaves_its_connection_usable()
      throws Exception {
    UUID id;
    try (Connection connection = TestDatabase.shared().dataSource().getConnection()) {
      connection.setAutoCommit(false);
      id = tenant.jobs().enqueue(connection, COUNT.job(1)).id();
      assertThat(connection.isClosed()).isFalse();
      assertThat(connection.getAutoCommit()).isFalse();
      assertThat(tenant.jobs().get(id)).isEmpty();
      connection.commit();
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
  }

  @Test
  void a_first_job_of_its_kind_in_an_open_transaction_keeps_nobody_waiting() throws Exception {
    try (Connection connection = TestDatabase.shared().dataSource().getConnection()) {
      connection.setAutoCommit(false);
      tenant.jobs().enqueue(connection, NewJob.of("brand-new", 1));

      Enqueued other = tenant.jobs().enqueue(NewJob.of("brand-new", 2));

      assertThat(other.created()).isTrue();
      connection.rollback();
    }
  }

  @Test
  void the_same_id_again_is_the_same_job() {
    UUID id = JobIds.next();

    Enqueued first = tenant.jobs().enqueue(COUNT.job(1).withId(id));
    Enqueued again = tenant.jobs().enqueue(COUNT.job(2).withId(id));

    assertThat(first).isEqualTo(new Enqueued(id, true));
    assertThat(again).isEqualTo(new Enqueued(id, false));
    assertThat(tenant.job(id).args().json()).isEqualTo("1");
  }

  @Test
  void the_same_id_again_after_the_job_finished_is_still_the_same_job() {
    UUID id = JobIds.next();
    tenant.jobs().enqueue(COUNT.job(1).withId(id));
    runAll();

    Enqueued again = tenant.jobs().enqueue(COUNT.job(2).withId(id));
    List<Enqueued> bulk = tenant.jobs().enqueueAll(List.of(COUNT.job(3).withId(id)));

    assertThat(again).isEqualTo(new Enqueued(id, false));
    assertThat(bulk).containsExactly(new Enqueued(id, false));
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.query("SELECT FROM {schema}.job")).isEmpty();
  }

  @Test
  void one_id_enqueued_by_many_at_once_while_it_runs_makes_one_job() throws Exception {
    UUID id = JobIds.next();
    Worker worker = tenant.worker().handle(COUNT, (n, job) -> {}).build();

    try (var executor = Executors.newFixedThreadPool(6)) {
      CountDownLatch go = new CountDownLatch(1);
      var answers =
          IntStream.range(0, 60)
              .mapToObj(i ->
                  executor.submit(() -> {
                    go.await();
                    Enqueued answer = tenant.jobs().enqueue(COUNT.job(i).withId(id));
                    worker.runDue();
                    return answer;
                  }))
              .toList();
      go.countDown();
      int created = 0;
      for (var answer : answers) {
        created += answer.get().created() ? 1 : 0;
      }
      assertThat(created).isEqualTo(1);
    }
    assertThat(tenant.jobs().attempts(id)).hasSize(1);
  }

  @Test
  void a_tenant_made_anew_under_an_old_name_refuses_what_is_remembered_of_the_old_one() {
    tenant.jobs().enqueue(COUNT.job(1));
    tenant.holdfast().tenants().drop(tenant.name());
    tenant.holdfast().tenants().create(tenant.name());

    assertThatThrownBy(() -> tenant.jobs().enqueue(COUNT.job(2)))
        .hasMessageContaining("made anew; try again");
    UUID id = tenant.jobs().enqueue(COUNT.job(3)).id();

    runAll();
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_unique_key_is_taken_until_its_job_finishes() {
    Enqueued first = tenant.jobs().enqueue(COUNT.job(1).withUniqueKey("report-2026"));
    Enqueued second = tenant.jobs().enqueue(COUNT.job(2).withUniqueKey("report-2026"));
    runAll();
    Enqueued third = tenant.jobs().enqueue(COUNT.job(3).withUniqueKey("report-2026"));

    assertThat(second).isEqualTo(new Enqueued(first.id(), false));
    assertThat(third.created()).isTrue();
    assertThat(third.id()).isNotEqualTo(first.id());
  }

  @Test
  void a_unique_key_counts_within_its_scope_only() {
    UniqueKey perQueue = new UniqueKey("k", UniqueKey.Scope.QUEUE);
    UniqueKey perKind = new UniqueKey("k", UniqueKey.Scope.KIND);

    assertThat(tenant.jobs().enqueue(NewJob.of("a", 1).withUniqueKey("k")).created()).isTrue();
    assertThat(tenant.jobs().enqueue(NewJob.of("a", 1).withUniqueKey(perQueue)).created()).isTrue();
    assertThat(tenant.jobs().enqueue(NewJob.of("a", 1).withUniqueKey(perKind)).created()).isTrue();
    assertThat(
            tenant
                .jobs()
                .enqueue(NewJob.of("a", 1).withQueue("q2").withUniqueKey(perQueue))
                .created())
        .isTrue();
    assertThat(tenant.jobs().enqueue(NewJob.of("b", 1).withUniqueKey(perQueue)).created())
        .isFalse();
    assertThat(
            tenant
                .jobs()
                .enqueue(NewJob.of("a", 1).withQueue("q2").withUniqueKey(perKind))
                .created())
        .isFalse();
  }

  @Test
  void args_that_are_not_json_are_refused_with_a_clear_error() {
    assertThatThrownBy(() -> tenant.jobs().enqueue(NewJob.of("bad", new Payload("{not json"))))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("args");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, Limits.NAME_CHARS + 1})
  void names_outside_their_limits_are_refused_naming_field_and_limit(int length) {
    String name = "x".repeat(length);

    assertRefused(() -> NewJob.of(name, 1), "kind", "200");
    assertRefused(() -> COUNT.job(1).withQueue(name), "queue", "200");
    assertRefused(() -> COUNT.job(1).withUniqueKey(name), "unique_key", "200");
    assertRefused(() -> COUNT.job(1).withTags(name), "tags", "200");
    assertRefused(() -> Placement.requiring(name), "host", "200");
  }

  @Test
  void values_outside_their_limits_are_refused_naming_field_and_limit() {
    assertRefused(() -> COUNT.job(1).withPriority(40_000), "priority", "32767");
    assertRefused(() -> COUNT.job(1).withDelay(Duration.ofSeconds(-1)), "delay", "0");
    assertRefused(() -> COUNT.job(1).withTags(Collections.nCopies(33, "t")), "tags", "32");
    assertRefused(() -> COUNT.job(1).withQueue("a\u0000b"), "queue", "control");
    assertRefused(() -> PolicyOverrides.NONE.withMaxAttempts(0), "max_attempts", "1000");
    assertRefused(
        () -> PolicyOverrides.NONE.withLeaseLength(Duration.ofMillis(10)),
        "lease_seconds",
        "1 day");
    assertRefused(
        () -> tenant.jobs().enqueue(NewJob.of("big", "x".repeat(Limits.PAYLOAD_BYTES))),
        "args",
        "262144");
    assertThat(tenant.query("SELECT FROM {schema}.job")).isEmpty();
  }

  @Test
  void a_committed_enqueue_in_a_callers_transaction_wakes_a_worker() throws Exception {
    CountDownLatch ran = new CountDownLatch(1);
    try (Worker worker =
            tenant
                .worker()
                .configure(config -> config.withPollInterval(Duration.ofMinutes(10)))
                .handle(COUNT, (n, job) -> ran.countDown())
                .start();
        Connection connection = TestDatabase.shared().dataSource().getConnection()) {
      connection.setAutoCommit(false);
      tenant.jobs().enqueue(connection, COUNT.job(1));
      connection.commit();

      ran.await();
    }
  }

  @Test
  void a_job_enqueued_by_another_process_wakes_a_worker() throws Exception {
    CountDownLatch ran = new CountDownLatch(1);
    Holdfast otherProcess = Holdfast.on(TestDatabase.shared().dataSource());
    try (Worker worker =
        tenant
            .worker()
            .configure(config -> config.withPollInterval(Duration.ofMinutes(10)))
            .handle(COUNT, (n, job) -> ran.countDown())
            .start()) {
      // The worker may not be listening yet; one of many notifications will find it so.
      while (ran.getCount() > 0) {
        otherProcess.jobs(tenant.name()).enqueue(COUNT.job(1));
        Thread.onSpinWait();
      }
    }
  }

  private void runAll() {
    tenant.worker().handle(COUNT, (n, job) -> {}).build().runDue();
  }

  private static void assertRefused(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String field, String limit) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            HoldfastException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
        .hasMessageContaining(field)
        .hasMessageContaining(limit);
  }
}
