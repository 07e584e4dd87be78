package dev.holdfast.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Item;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Extension;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.Report;
import dev.holdfast.lease.ReportReply;
import dev.holdfast.queue.Enqueued;
import dev.holdfast.queue.JobFilter;
import dev.holdfast.rig.Cable;
import dev.holdfast.server.TestServer;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The server did what was asked, and the answer never came. */
class LostAnswersTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private Cable proxy;
  private HoldfastClient client;

  @BeforeEach
  void connect() throws IOException {
    TestServer server = TestServer.shared();
    proxy = new Cable(server.port());
    client =
        HoldfastClient.at(proxy.url())
            .withToken(server.token(Role.ADMIN, java.util.Optional.of(tenant.name())));
  }

  @AfterEach
  void disconnect() throws IOException {
    proxy.close();
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Test
  void a_chosen_answer_is_lost_and_no_other() {
    AtomicInteger lost = new AtomicInteger();
    proxy.loseNext("POST /api/v1/leases HTTP", "\"fence\":", lost::incrementAndGet);

    assertThat(claim()).as("one that brings nothing").isEmpty();
    UUID id = client.enqueue(NewJob.of("email", 1)).id();
    assertThat(lost).hasValue(0);

    assertThat(claim()).extracting(lease -> lease.key().jobId()).containsExactly(id);
    assertThat(lost).hasValue(1);
    assertThat(claim()).isEmpty();
    assertThat(lost).as("once").hasValue(1);
  }

  @Test
  void a_claim_whose_answer_got_lost_brings_the_same_leases_and_no_more() {
    tenant.jobs().enqueueAll(List.of(NewJob.of("email", 1), NewJob.of("email", 2)));

    proxy.lose(1);
    List<Lease> leases = claim();

    assertThat(proxy.answersLost()).isEqualTo(1);
    assertThat(leases).hasSize(1);
    assertThat(leased()).containsExactly(leases.getFirst().key().jobId());
  }

  @Test
  void a_claim_whose_answer_got_lost_twice_is_given_up_and_its_jobs_come_back() {
    UUID id = tenant.jobs().enqueue(NewJob.of("email", 1)).id();

    proxy.lose(2);

    assertThatThrownBy(this::claim)
        .isInstanceOf(HoldfastException.class)
        .extracting(e -> ((HoldfastException) e).code())
        .isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(leased()).containsExactly(id); // until the reaper finds that nobody renews it
  }

  @Test
  void an_end_whose_answer_got_lost_is_recorded_once_and_answered_as_recorded() {
    UUID id = tenant.jobs().enqueue(NewJob.of("email", 1)).id();
    Lease lease = claim().getFirst();

    proxy.lose(1);
    List<FinishReply> replies =
        client.leases().finish(List.of(new Finish(lease, Outcome.succeeded())));

    assertThat(proxy.answersLost()).isEqualTo(1);
    assertThat(replies).containsExactly(new FinishReply.Recorded(JobState.SUCCEEDED));
    assertThat(tenant.jobs().attempts(id)).hasSize(1);
  }

  @Test
  void tokens_and_lines_of_a_report_whose_answer_got_lost_are_counted_once() {
    UUID id = tenant.jobs().enqueue(NewJob.of("ask", 1)).id();
    Lease lease = claim().getFirst();
    Report report = Report.ofUsage(5, 7).withLog(List.of("once")).withIdempotencyKey("r1");

    proxy.lose(1);
    ReportReply reply = client.leases().report(lease, report);

    assertThat(reply).isEqualTo(new ReportReply.Repeated());
    assertThat(tenant.jobs().log(id)).containsExactly("once");
    assertThat(tenant.job(id).usage().inputTokens()).isEqualTo(5);
  }

  @Test
  void tokens_without_a_key_are_not_sent_again() {
    UUID id = tenant.jobs().enqueue(NewJob.of("ask", 1)).id();
    Lease lease = claim().getFirst();

    proxy.lose(1);

    assertThatThrownBy(() -> client.leases().report(lease, Report.ofUsage(5, 7)))
        .isInstanceOf(HoldfastException.class);
    assertThat(tenant.job(id).usage().inputTokens()).isEqualTo(5);
  }

  @Test
  void items_and_beats_are_sent_again() {
    tenant.jobs().enqueue(NewJob.of("scrape", 1));
    Lease lease = claim().getFirst();
    Item item = new Item("a", new Payload("{}"));

    proxy.lose(1);
    ReportReply stored = client.leases().report(lease, Report.ofItems(List.of(item)));
    proxy.lose(1);
    List<Extension> beats = client.leases().extend(List.of(lease));

    assertThat(stored).isEqualTo(new ReportReply.Stored(0, 1));
    assertThat(beats).containsExactly(new Extension(lease.key(), Extension.Status.EXTENDED));
    assertThat(proxy.answersLost()).isEqualTo(2);
  }

  @Test
  void a_job_whose_answer_got_lost_is_enqueued_once_and_by_us() {
    proxy.lose(1);
    Enqueued one = client.enqueue(NewJob.of("email", 1));
    proxy.lose(1);
    List<Enqueued> two = client.enqueueAll(List.of(NewJob.of("email", 2), NewJob.of("email", 3)));

    assertThat(proxy.answersLost()).isEqualTo(2);
    assertThat(one.created()).isTrue();
    assertThat(two).allMatch(Enqueued::created);
    assertThat(client.list(JobFilter.ALL, 10).jobs()).hasSize(3);
  }

  private List<Lease> claim() {
    return client.leases().claim(ClaimRequest.of("worker", Set.of("default"), 1)).leases();
  }

  private List<UUID> leased() {
    return tenant.query("SELECT id FROM {schema}.job WHERE worker IS NOT NULL").stream()
        .map(row -> (UUID) row.get("id"))
        .toList();
  }
}
