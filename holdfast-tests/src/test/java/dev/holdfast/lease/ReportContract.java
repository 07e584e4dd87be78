package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Item;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.Extension.Status;
import dev.holdfast.testkit.Covers;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a source of leases promises about reports of running attempts. */
abstract class ReportContract extends FinishContract {

  @Covers({"E5", "E11"})
  @Test
  void progress_is_handed_to_the_next_attempt() {
    enqueue(NewJob.of("email", 1));
    Lease lease = claimOne("worker");
    Progress progress = Progress.NONE.withCursor("page-7").withProgressCount(70).withPercent(12.5);

    ReportReply stored = leases().report(lease, Report.of(progress));
    finish(lease, new Outcome.Released("closing"));

    assertThat(stored).isEqualTo(new ReportReply.Stored(0, 0));
    assertThat(claimOne("worker").progress()).isEqualTo(progress);
  }

  @Covers("B9")
  @Test
  void a_worker_that_lost_its_lease_can_store_nothing() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lost = claimOne("worker-a");
    expireAndReap();
    claimOne("worker-b");

    Report report =
        Report.of(Progress.NONE.withCursor("zombie")).withLog(List.of("zombie was here"));

    for (Report said :
        List.of(
            report,
            report.withIdempotencyKey("once"),
            Report.ofLog(List.of("still here")),
            Report.ofUsage(10, 10),
            Report.ofItems(List.of(item("zombie"))))) {
      assertThat(leases().report(lost, said)).isEqualTo(new ReportReply.Lost());
    }
    assertThat(tenant.jobs().items(id, 10)).isEmpty();
    assertThat(tenant.job(id).progress()).isEqualTo(Progress.NONE);
    assertThat(tenant.jobs().log(id)).isEmpty();
  }

  @Test
  void log_lines_are_kept_in_order_across_attempts() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease first = claimOne("worker");
    leases().report(first, Report.ofLog(List.of("one", "two")));
    finish(first, new Outcome.Released("closing"));
    Lease second = claimOne("worker");
    leases().report(second, Report.ofLog(List.of("three")));

    assertThat(tenant.jobs().log(id)).containsExactly("one", "two", "three");
  }

  @Covers("E4")
  @Test
  void items_are_stored_once_whoever_says_them_again() {
    UUID id = enqueue(NewJob.of("scrape", 1));
    Lease first = claimOne("worker");
    ReportReply two = leases().report(first, Report.ofItems(List.of(item("a"), item("b"))));
    finish(first, new Outcome.Released("closing"));
    Lease second = claimOne("worker");

    ReportReply more =
        leases()
            .report(second, Report.ofItems(List.of(item("b"), item("c"), item("c"), item("d"))));

    assertThat(two).isEqualTo(new ReportReply.Stored(2, 0));
    assertThat(more).isEqualTo(new ReportReply.Stored(2, 2));
    assertThat(tenant.jobs().items(id, 10))
        .extracting(Item::key)
        .containsExactly("a", "b", "c", "d");
    assertThat(tenant.job(id).progress().resultCount()).isEqualTo(OptionalLong.of(4));
  }

  @Test
  void a_report_with_a_key_is_stored_once() {
    UUID id = enqueue(NewJob.of("scrape", 1));
    Lease lease = claimOne("worker");
    Report report = Report.ofUsage(5, 7).withLog(List.of("once")).withIdempotencyKey("report-1");

    assertThat(leases().report(lease, report)).isEqualTo(new ReportReply.Stored(0, 0));
    assertThat(leases().report(lease, report)).isEqualTo(new ReportReply.Repeated());
    finish(lease, Outcome.succeeded());
    assertThat(leases().report(lease, report)).isEqualTo(new ReportReply.Repeated());

    assertThat(tenant.jobs().log(id)).containsExactly("once");
  }

  @Test
  void of_many_reports_with_one_key_at_once_one_is_stored() throws Exception {
    UUID id = enqueue(NewJob.of("scrape", 1));
    Lease lease = claimOne("worker");
    Report report = Report.ofLog(List.of("once")).withIdempotencyKey("report-1");

    List<ReportReply> replies = concurrently(4, number -> leases().report(lease, report));

    assertThat(replies)
        .containsExactlyInAnyOrder(
            new ReportReply.Stored(0, 0),
            new ReportReply.Repeated(),
            new ReportReply.Repeated(),
            new ReportReply.Repeated());
    assertThat(tenant.jobs().log(id)).containsExactly("once");
  }

  @Covers("B8")
  @Test
  void a_job_over_its_token_limit_is_told_to_stop_and_has_failed() {
    UUID id = enqueue(NewJob.of("ask", 1).withPolicy(tokens(100)));
    Lease lease = claimOne("worker");
    leases().report(lease, Report.ofUsage(60, 40));
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);

    leases().report(lease, Report.ofUsage(0, 1));

    assertThat(leases().extend(List.of(lease)))
        .containsExactly(new Extension(lease.key(), Status.STOP_REQUESTED));
    assertThat(finish(lease, new Outcome.Stopped()))
        .isEqualTo(new FinishReply.Recorded(JobState.FAILED));
    Job failed = tenant.job(id);
    assertThat(failed.state()).isEqualTo(JobState.FAILED);
    assertThat(failed.errorCode()).contains("TOKEN_LIMIT");
    assertThat(failed.errorMessage()).contains("Used 101 tokens, over the token limit of 100");
  }

  @Covers("B8")
  @Test
  void a_job_over_its_token_limit_has_failed_even_if_it_ends_well() {
    UUID id = enqueue(NewJob.of("ask", 1).withPolicy(tokens(100)));
    Lease lease = claimOne("worker");
    leases().report(lease, Report.ofUsage(101, 0));

    assertThat(finish(lease, Outcome.succeeded()))
        .isEqualTo(new FinishReply.Recorded(JobState.FAILED));

    assertThat(tenant.job(id).errorCode()).contains("TOKEN_LIMIT");
  }

  @Covers("E6")
  @Test
  void a_job_that_has_the_results_it_is_for_has_succeeded_with_the_report_that_brought_them() {
    UUID id = enqueue(NewJob.of("scrape", 1).withTarget("crm").withPolicy(results(3)));
    UUID next = enqueue(NewJob.of("scrape", 1).withTarget("crm"));
    Lease lease = claimOne("worker");

    ReportReply open = leases().report(lease, Report.ofItems(List.of(item("a"), item("b"))));
    ReportReply last = leases().report(lease, Report.ofItems(List.of(item("b"), item("c"))));

    assertThat(open).isEqualTo(new ReportReply.Stored(2, 0));
    assertThat(last).isEqualTo(new ReportReply.Stored(1, 1, Optional.of(JobState.SUCCEEDED)));
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(leases().extend(List.of(lease)))
        .containsExactly(new Extension(lease.key(), Status.LOST));
    assertThat(leases().report(lease, Report.ofItems(List.of(item("d")))))
        .isEqualTo(new ReportReply.Lost());
    assertThat(claimOne("worker").key().jobId()).isEqualTo(next);
  }

  @Covers("E6")
  @Test
  void results_count_over_all_attempts_and_however_they_are_said() {
    UUID id = enqueue(NewJob.of("scrape", 1).withPolicy(results(5)));
    Lease first = claimOne("worker");
    leases().report(first, Report.ofItems(List.of(item("a"), item("b"))));
    finish(first, new Outcome.Released("closing"));
    Lease second = claimOne("worker");

    leases().report(second, Report.of(resultCount(4)));
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    leases().report(second, Report.of(resultCount(5)));

    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Covers("E6")
  @Test
  void a_lost_lease_brings_no_job_to_its_target() {
    UUID id = enqueue(NewJob.of("scrape", 1).withPolicy(results(1)));
    Lease lost = claimOne("worker-a");
    expireAndReap();

    assertThat(leases().report(lost, Report.ofItems(List.of(item("a")))))
        .isEqualTo(new ReportReply.Lost());

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
  }

  private static PolicyOverrides results(long count) {
    return PolicyOverrides.NONE.withTargetCount(count);
  }

  private static Progress resultCount(long count) {
    return new Progress(
        Optional.empty(),
        OptionalLong.empty(),
        OptionalLong.of(count),
        OptionalDouble.empty(),
        Optional.empty());
  }

  @Covers({"E9", "E10"})
  @Test
  void an_attempt_keeps_the_last_of_what_it_said() {
    UUID id = enqueue(NewJob.of("scrape", 1));
    Lease first = claimOne("worker");
    leases()
        .finish(List.of(new Finish(first, new Outcome.Released("closing"), Optional.of("page 1"))));
    Lease second = claimOne("worker");
    leases().finish(List.of(new Finish(second, Outcome.succeeded(), Optional.of("page 2"))));

    assertThat(tenant.jobs().attempts(id))
        .extracting(attempt -> attempt.logExcerpt().orElseThrow())
        .containsExactly("page 1", "page 2");
  }

  @Covers("E9")
  @Test
  void an_attempt_whose_worker_fell_silent_keeps_the_last_lines_that_were_stored() {
    UUID id = enqueue(NewJob.of("scrape", 1));
    Lease lost = claimOne("worker");
    leases().report(lost, Report.ofLog(List.of("page 1", "page 2")));

    expireAndReap();

    assertThat(tenant.jobs().attempts(id))
        .extracting(attempt -> attempt.logExcerpt().orElseThrow())
        .containsExactly("page 1\npage 2");
  }

  private static PolicyOverrides tokens(long limit) {
    return PolicyOverrides.NONE.withTokenLimit(limit);
  }

  private static Item item(String key) {
    return new Item(key, new Payload("{}"));
  }
}
