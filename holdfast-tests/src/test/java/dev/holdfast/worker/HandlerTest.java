package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What a handler is given, and how it can say that it ended. */
class HandlerTest extends EmailRig {

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
