package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Handlers, listeners and hooks that misbehave cost their own job something, and nobody else. */
@NullUnmarked
class HostileHandlersTest {

  private static final Kind<Integer> BAD = Kind.of("bad", Integer.class);
  private static final Kind<Integer> GOOD = Kind.of("good", Integer.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void a_handler_that_answers_null_has_failed() {
    UUID bad = tenant.jobs().enqueue(BAD.job(1)).id();
    UUID good = tenant.jobs().enqueue(GOOD.job(1)).id();

    worker().handleWithOutcome(BAD, (args, job) -> null).build().runDue();

    assertThat(tenant.job(bad).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.job(bad).errorCode()).contains(Failure.HANDLER_FAILED);
    assertThat(tenant.job(good).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void an_exception_without_words_is_a_failure_like_any_other() {
    @SuppressWarnings({"OverrideThrowableToString", "ToStringReturnsNull"}) // on purpose
    class Silent extends RuntimeException {
      @Override
      public String toString() {
        return null;
      }
    }
    UUID bad = failBy(new Silent());

    assertThat(tenant.job(bad).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.job(bad).errorMessage()).isPresent();
  }

  @Test
  void an_exception_whose_words_cannot_be_had_is_a_failure_like_any_other() {
    UUID bad = failBy(new Unspeakable());

    assertThat(tenant.job(bad).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.job(bad).errorMessage())
        .hasValueSatisfying(words -> assertThat(words).contains("Unspeakable"));
  }

  private static final class Unspeakable extends RuntimeException {
    @Override
    public String getMessage() {
      throw new StackOverflowError("of an exception's own words");
    }

    @Override
    public synchronized Throwable getCause() {
      throw new StackOverflowError("of an exception's own cause");
    }
  }

  /** Runs a job's only attempt, which throws this. */
  private UUID failBy(RuntimeException thrown) {
    UUID bad =
        tenant.jobs().enqueue(BAD.job(1).withPolicy(PolicyOverrides.NONE.withMaxAttempts(1))).id();
    worker()
        .handle(
            BAD,
            (args, job) -> {
              throw thrown;
            })
        .build()
        .runDue();
    return bad;
  }

  @Test
  void what_a_listener_throws_does_not_reach_the_job() {
    UUID good = tenant.jobs().enqueue(GOOD.job(1)).id();

    worker()
        .handle(BAD, (args, job) -> {})
        .listen(
            new WorkerListener() {
              @Override
              public void ended(Lease lease, Outcome outcome, Duration ran) {
                throw new IllegalStateException("metrics are away");
              }
            })
        .build()
        .runDue();

    assertThat(tenant.job(good).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void an_error_of_a_listener_does_not_reach_the_job_either() {
    UUID good = tenant.jobs().enqueue(GOOD.job(1)).id();
    UUID bad =
        tenant.jobs().enqueue(BAD.job(1).withPolicy(PolicyOverrides.NONE.withMaxAttempts(1))).id();

    int attempts =
        worker()
            .handle(
                BAD,
                (args, job) -> {
                  throw new IllegalStateException("bad");
                })
            .listen(
                new WorkerListener() {
                  @Override
                  public void failed(Lease lease, Throwable thrown) {
                    throw new StackOverflowError("of a listener");
                  }

                  @Override
                  public void ended(Lease lease, Outcome outcome, Duration ran) {
                    throw new StackOverflowError("of a listener");
                  }
                })
            .build()
            .runDue();

    assertThat(attempts).isEqualTo(2);
    assertThat(tenant.job(good).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.job(bad).state()).isEqualTo(JobState.FAILED);
  }

  @Test
  void nor_does_what_a_listener_throws_and_nobody_can_log() {
    UUID one = tenant.jobs().enqueue(GOOD.job(1)).id();
    UUID other = tenant.jobs().enqueue(GOOD.job(2)).id();
    AtomicInteger heard = new AtomicInteger();

    int attempts =
        worker()
            .listen(
                new WorkerListener() {
                  @Override
                  public void ended(Lease lease, Outcome outcome, Duration ran) {
                    throw new Unspeakable();
                  }

                  @Override
                  public void finished(Lease lease, FinishReply reply) {
                    heard.incrementAndGet();
                    throw new Unspeakable();
                  }
                })
            .build()
            .runDue();

    assertThat(attempts).isEqualTo(2);
    assertThat(heard).hasValue(2);
    assertThat(List.of(one, other))
        .extracting(id -> tenant.job(id).state())
        .containsOnly(JobState.SUCCEEDED);
  }

  @Test
  void a_line_that_is_null_is_refused_where_it_is_said() {
    tenant.jobs().enqueue(BAD.job(1));

    worker()
        .handle(
            BAD,
            (args, job) ->
                assertThatThrownBy(() -> job.log(null)).isInstanceOf(NullPointerException.class))
        .build()
        .runDue();

    assertThat(tenant.query("SELECT state FROM {schema}.job_done"))
        .extracting(row -> row.get("state"))
        .containsExactly("succeeded");
  }

  @Test
  void a_hook_that_fails_for_one_job_lets_the_others_end() throws Exception {
    CountDownLatch goodFinished = new CountDownLatch(1);
    Holdfast hooked =
        Holdfast.builder(TestDatabase.shared().dataSource())
            .onTransition((connection, moved) -> {
              if (moved.stream()
                  .anyMatch(move -> move.kind().equals("bad") && move.to() == JobState.SUCCEEDED)) {
                throw new SQLException("no such site", "23503");
              }
            })
            .build();
    UUID bad = tenant.jobs().enqueue(BAD.job(1)).id();
    UUID good = tenant.jobs().enqueue(GOOD.job(1)).id();

    try (Worker worker =
        hooked
            .worker(tenant.name())
            .configure(config -> config.withDrainTimeout(Duration.ofMillis(100)))
            .handle(BAD, (args, job) -> {})
            .handle(GOOD, (args, job) -> {})
            .listen(
                new WorkerListener() {
                  @Override
                  public void finished(Lease lease, FinishReply reply) {
                    if (lease.kind().equals("good")) {
                      goodFinished.countDown();
                    }
                  }
                })
            .start()) {
      goodFinished.await();
    }

    assertThat(tenant.job(good).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.job(bad).state()).isNotEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_checkpoint_within_the_handlers_own_transaction_does_not_cost_the_lease() {
    UUID id =
        tenant.jobs().enqueue(BAD.job(1).withPolicy(PolicyOverrides.NONE.withMaxAttempts(1))).id();

    worker()
        .handle(
            BAD,
            (args, job) ->
                job.inTransaction(connection -> {
                  job.checkpoint("half");
                  job.log("a line");
                  return job.payload("done");
                }))
        .build()
        .runDue();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.job(id).progress()).isEqualTo(Progress.NONE.withCursor("half"));
  }

  @Test
  void jobs_that_commit_with_their_handlers_writes_are_finished_for_the_listener_too() {
    CountDownLatch heard = new CountDownLatch(1);
    tenant.jobs().enqueue(BAD.job(1));

    worker()
        .handle(BAD, (args, job) -> job.inTransaction(connection -> job.payload(1)))
        .listen(
            new WorkerListener() {
              @Override
              public void finished(Lease lease, FinishReply reply) {
                assertThat(reply).isEqualTo(new FinishReply.Recorded(JobState.SUCCEEDED));
                heard.countDown();
              }
            })
        .build()
        .runDue();

    assertThat(heard.getCount()).isZero();
  }

  private WorkerBuilder worker() {
    return tenant.worker().handle(GOOD, (args, job) -> {});
  }
}
