package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Item;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.Report;
import dev.holdfast.loop.SpareThreads;
import dev.holdfast.worker.Running.Interruption;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/** What handlers say, with leases that fail or stay silent on purpose. */
class ReporterTest {

  private final FailingLeases leases = new FailingLeases();
  private final InFlight inFlight = new InFlight(10);

  @Test
  void what_a_handler_said_is_kept_until_the_database_takes_it() {
    Reporter reporter = new Reporter(inFlight);
    job(attempt()).log("first");
    job(attempt()).log("second");

    leases.away = true;
    reporter.runOnce();
    leases.away = false;
    reporter.runOnce();

    assertThat(leases.reports)
        .flatExtracting(Report::logLines)
        .containsExactlyInAnyOrder("first", "second");
  }

  @Test
  void a_report_that_nobody_answers_holds_up_no_other_job() throws Exception {
    leases.silent = true;
    FutureTask<Boolean> handler = handlerThatReports(attempt());
    leases.reporting.await();
    leases.silent = false;
    job(attempt()).log("of another job");

    new Reporter(inFlight).runOnce();

    assertThat(leases.reports).flatExtracting(Report::logLines).containsExactly("of another job");
    leases.answering.countDown();
    assertThat(handler.get()).isFalse();
  }

  @Test
  void a_report_for_which_there_is_no_thread_is_sent_by_the_handler_itself() {
    AttemptReports attempt =
        leases.reports(
            inFlight,
            System.nanoTime(),
            work -> {
              throw new OutOfMemoryError("unable to create native thread");
            });

    job(attempt).checkpoint("half");

    assertThat(leases.reports).hasSize(1);
  }

  @Test
  void a_report_whose_fate_is_unknown_is_sent_again_word_for_word_before_anything_newer() {
    JobContext job = job(attempt());
    job.log("one");
    job.usage(1, 2);
    job.progress(Progress.NONE.withPercent(10));
    leases.away = true;
    assertThatThrownBy(job::flush).hasMessageContaining("away");
    leases.away = false;
    job.log("two");

    job.flush();

    assertThat(leases.reports).hasSize(2);
    assertThat(leases.reports.getFirst().logLines()).containsExactly("one");
    assertThat(leases.reports.getFirst().progress().percent()).hasValue(10);
    assertThat(leases.reports.getFirst().idempotencyKey()).as("tokens count once").isPresent();
    assertThat(leases.reports.getLast().logLines()).containsExactly("two");
  }

  @Test
  void a_handler_that_waits_for_an_answer_hears_all_the_same_that_its_lease_may_be_lost()
      throws Exception {
    leases.silent = true;
    AttemptReports attempt = attempt();
    FutureTask<Boolean> handler = handlerThatReports(attempt);
    leases.reporting.await();

    attempt.running().interrupt(Interruption.UNRENEWED);

    assertThatThrownBy(handler::get)
        .cause()
        .isInstanceOfSatisfying(
            HoldfastException.class,
            refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.LEASE_LOST));
    leases.answering.countDown();
  }

  @Test
  void a_handler_that_is_told_to_stop_may_still_say_how_far_it_came() throws Exception {
    leases.silent = true;
    AttemptReports attempt = attempt();
    FutureTask<Boolean> handler = handlerThatReports(attempt);
    leases.reporting.await();

    attempt.running().interrupt(Interruption.STOP);
    leases.answering.countDown();

    assertThat(handler.get()).as("told, once it has reported").isTrue();
    assertThat(leases.reports).hasSize(1);
  }

  @Test
  void nothing_is_reported_any_more_once_the_lease_may_be_lost() {
    AttemptReports attempt = attempt();
    attempt.running().interrupt(Interruption.UNRENEWED);

    assertThatThrownBy(() -> job(attempt).items(List.of(new Item("key", Payload.NULL))))
        .isInstanceOfSatisfying(
            HoldfastException.class,
            refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.LEASE_LOST));

    assertThat(leases.reports).isEmpty();
  }

  @Test
  void whoever_records_the_end_does_not_wait_for_a_report_that_nobody_answers() throws Exception {
    leases.silent = true;
    AttemptReports attempt = attempt();
    FutureTask<Boolean> handler = handlerThatReports(attempt);
    leases.reporting.await();
    attempt.running().interrupt(Interruption.UNRENEWED);
    assertThatThrownBy(handler::get).isNotNull();

    boolean stored = attempt.store();

    assertThat(stored).isFalse();
    leases.answering.countDown();
  }

  /** Answers whether it was interrupted. */
  private FutureTask<Boolean> handlerThatReports(AttemptReports attempt) {
    FutureTask<Boolean> handler =
        new FutureTask<>(() -> {
          attempt.running().handlerStarts(System.nanoTime());
          job(attempt).checkpoint("half");
          return Thread.interrupted();
        });
    var unused = Thread.startVirtualThread(handler);
    return handler;
  }

  private AttemptReports attempt() {
    return leases.reports(inFlight, System.nanoTime(), SpareThreads.named("holdfast-report"));
  }

  private static JobContext job(AttemptReports attempt) {
    return new JobContext(attempt, new JacksonCodec());
  }
}
