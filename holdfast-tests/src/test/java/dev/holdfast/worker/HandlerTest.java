package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Item;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.Lease;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a handler is given, and what it can say. */
class HandlerTest {

  record Email(String to) {}

  static final Kind<Email> EMAIL = Kind.of("email", Email.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void a_handler_can_say_how_it_ended() {
    Worker worker =
        tenant
            .worker()
            .handleWithOutcome(
                EMAIL,
                (email, job) ->
                    switch (email.to()) {
                      case "result" -> Outcome.succeeded(job.payload(List.of(1, 2)));
                      case "later" -> Outcome.snoozed(Duration.ofMinutes(5));
                      default -> Outcome.failed(Failure.permanent("NO_SUCH_USER", email.to()));
                    })
            .build();
    UUID result = enqueue("result");
    UUID later = enqueue("later");
    UUID gone = enqueue("gone");

    worker.runDue();

    assertThat(tenant.job(result).result()).contains(new Payload("[1,2]"));
    assertThat(tenant.job(later).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(later).attempt()).isZero();
    assertThat(tenant.job(gone).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.job(gone).errorCode()).contains("NO_SUCH_USER");
  }

  @Test
  void a_handler_can_throw_how_it_ended_also_wrapped_in_another_exception() {
    List<Throwable> heard = new ArrayList<>();
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) -> {
                  throw switch (email.to()) {
                    case "later" -> OutcomeException.snoozed(Duration.ofMinutes(5));
                    case "wrapped" -> new IllegalStateException(gone(email));
                    default -> gone(email);
                  };
                })
            .listen(failuresTo(heard))
            .build();
    UUID later = enqueue("later");
    UUID wrapped = enqueue("wrapped");
    UUID gone = enqueue("gone");

    worker.runDue();

    assertThat(tenant.job(later).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(later).attempt()).isZero();
    for (UUID id : List.of(wrapped, gone)) {
      assertThat(tenant.job(id).state()).isEqualTo(JobState.FAILED);
      assertThat(tenant.job(id).errorCode()).contains("NO_SUCH_USER");
    }
    assertThat(heard).hasSize(2);
  }

  private static WorkerListener failuresTo(List<Throwable> heard) {
    return new WorkerListener() {
      @Override
      public void failed(Lease lease, Throwable thrown) {
        heard.add(thrown);
      }
    };
  }

  private static OutcomeException gone(Email email) {
    return OutcomeException.failed(Failure.permanent("NO_SUCH_USER", email.to()));
  }

  @Test
  void a_handler_knows_whether_a_failure_would_be_its_jobs_last() {
    List<Boolean> last = new ArrayList<>();
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) -> {
                  last.add(job.isLastAttempt());
                  throw new IllegalStateException("no");
                })
            .build();
    tenant
        .jobs()
        .enqueue(EMAIL.job(new Email("ada")).withPolicy(PolicyOverrides.NONE.withMaxAttempts(2)));

    worker.runDue();
    tenant.advance(Duration.ofHours(1));
    worker.runDue();

    assertThat(last).containsExactly(false, true);
  }

  @Test
  void arguments_that_a_worker_cannot_read_wait_for_one_that_can_and_somebody_hears_of_it() {
    List<Throwable> heard = new ArrayList<>();
    Worker older =
        tenant.worker().handle(EMAIL, (email, job) -> {}).listen(failuresTo(heard)).build();
    List<Object> read = new ArrayList<>();
    Kind<Object> newer = Kind.of("email", Object.class);
    UUID id = tenant.jobs().enqueue(NewJob.of("email", List.of(1))).id();

    older.runDue();
    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(id).errorCode()).contains("BAD_PAYLOAD");
    assertThat(heard).singleElement().isInstanceOf(HoldfastException.class);
    tenant.advance(Duration.ofHours(1));
    tenant.worker().handle(newer, (args, job) -> read.add(args)).build().runDue();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(read).containsExactly(List.of(1));
  }

  @Test
  void attempts_run_on_the_threads_that_the_worker_is_given() throws Exception {
    CompletableFuture<Thread> ran = new CompletableFuture<>();
    tenant.jobs().enqueue(EMAIL.job(new Email("ada")));

    try (Worker worker =
        tenant
            .worker()
            .runOn(Thread.ofPlatform().name("mine").factory())
            .handle(EMAIL, (email, job) -> ran.complete(Thread.currentThread()))
            .start()) {
      assertThat(ran.get().isVirtual()).isFalse();
      assertThat(ran.get().getName()).isEqualTo("mine");
    }
  }

  @Test
  void interceptors_wrap_the_handler_the_first_outermost() {
    List<String> order = new ArrayList<>();
    Worker worker =
        tenant
            .worker()
            .intercept(named("outer", order))
            .intercept(named("inner", order))
            .handle(EMAIL, (email, job) -> order.add("handler"))
            .build();
    enqueue("ada");

    worker.runDue();

    assertThat(order).containsExactly("outer", "inner", "handler", "inner done", "outer done");
  }

  @Covers("E6")
  @Test
  void a_handler_that_brought_the_results_its_job_is_for_is_told_to_stop_and_need_not_succeed() {
    List<Boolean> stop = new ArrayList<>();
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) -> {
                  job.items(List.of(new Item("a", Payload.NULL)));
                  stop.add(job.shouldStop());
                  job.items(List.of(new Item("b", Payload.NULL)));
                  stop.add(job.shouldStop());
                  job.items(List.of(new Item("c", Payload.NULL)));
                  stop.add(job.shouldStop());
                })
            .build();
    UUID id =
        tenant
            .jobs()
            .enqueue(
                EMAIL.job(new Email("ada")).withPolicy(PolicyOverrides.NONE.withTargetCount(2)))
            .id();

    worker.runDue();

    assertThat(stop).containsExactly(false, true);
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.jobs().items(id, 10)).extracting(Item::key).containsExactly("a", "b");
    assertThat(tenant.jobs().attempts(id)).hasSize(1);
  }

  @Test
  void a_checkpoint_is_where_the_next_attempt_starts() {
    List<String> cursors = new ArrayList<>();
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) -> {
                  cursors.add(job.lastCursor().orElse("start"));
                  job.checkpoint("row-" + job.attempt() * 100);
                  if (job.attempt() < 3) {
                    throw new IllegalStateException("again");
                  }
                })
            .build();
    UUID id = enqueue("ada");

    for (int i = 0; i < 3; i++) {
      worker.runDue();
      tenant.advance(Duration.ofMinutes(15));
    }

    assertThat(cursors).containsExactly("start", "row-100", "row-200");
    assertThat(tenant.job(id).progress().cursor()).contains("row-300");
  }

  @Test
  void progress_log_and_usage_are_stored_with_the_job() {
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) -> {
                  job.progress(Progress.NONE.withPercent(40));
                  job.progress(Progress.NONE.withMessage("almost"));
                  job.log("first");
                  job.log("second");
                  job.usage(10, 3);
                  job.usage(1, 1);
                })
            .build();
    UUID id = enqueue("ada");

    worker.runDue();

    Job done = tenant.job(id);
    assertThat(done.progress().percent()).hasValue(40);
    assertThat(done.progress().message()).contains("almost");
    assertThat(tenant.jobs().log(id)).containsExactly("first", "second");
    assertThat(tenant.query("SELECT input_tokens, output_tokens FROM {schema}.job_done").getFirst())
        .containsEntry("input_tokens", 11L)
        .containsEntry("output_tokens", 4L);
  }

  @Test
  void a_handlers_transaction_commits_with_the_completion_of_its_job() {
    tenant.execute("CREATE TABLE {schema}.sent (address text)");
    String insert = tenant.tenant().db().sql("INSERT INTO {schema}.sent VALUES (?)");
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) ->
                    job.inTransaction(connection -> {
                      try (var statement = connection.prepareStatement(insert)) {
                        statement.setString(1, email.to());
                        statement.execute();
                      }
                      return Payload.NULL;
                    }))
            .build();
    UUID id = enqueue("ada");

    worker.runDue();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.query("SELECT address FROM {schema}.sent")).hasSize(1);
    assertThat(tenant.jobs().attempts(id)).hasSize(1);
  }

  @Test
  void a_handlers_transaction_may_take_its_time() {
    List<Integer> limits = new ArrayList<>();
    try (Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) ->
                    job.inTransaction(connection -> {
                      limits.add(connection.getNetworkTimeout());
                      return Payload.NULL;
                    }))
            .build()) {
      UUID id = enqueue("ada");
      worker.runDue();
      assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    }

    assertThat(limits).containsExactly(0);
  }

  @Test
  void a_failing_transaction_leaves_neither_writes_nor_completion() {
    tenant.execute("CREATE TABLE {schema}.sent (address text)");
    String insert = tenant.tenant().db().sql("INSERT INTO {schema}.sent VALUES ('x')");
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) ->
                    job.inTransaction(connection -> {
                      connection.createStatement().execute(insert);
                      throw new IllegalStateException("after the write");
                    }))
            .build();
    UUID id = enqueue("ada");

    worker.runDue();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.query("SELECT address FROM {schema}.sent")).isEmpty();
  }

  private UUID enqueue(String to) {
    return tenant.jobs().enqueue(EMAIL.job(new Email(to))).id();
  }

  private static Interceptor named(String name, List<String> order) {
    return (context, next) -> {
      order.add(name);
      try {
        return next.proceed();
      } finally {
        order.add(name + " done");
      }
    };
  }
}
