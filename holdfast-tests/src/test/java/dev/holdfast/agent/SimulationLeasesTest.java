package dev.holdfast.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Extension;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.Report;
import dev.holdfast.lease.ReportReply;
import dev.holdfast.testkit.Covers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/** How the document's server hears of ends, also of those that it did not expect. */
@Covers("C13")
class SimulationLeasesTest {

  private static final String ID = "1234-5678"; // as the document has it: no UUID
  private static final String WORKER = "tiago-gpu";

  @TempDir Path directory;

  private DocumentServer server;
  private SimulationServer address;
  private SimulationLeases leases;

  @BeforeEach
  void start() throws IOException {
    server = new DocumentServer();
    address = SimulationServer.at(server.url(), Map.of());
    leases = new SimulationLeases(address, SharedStorage.in(directory), Duration.ofMinutes(1));
    server.add(payload());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void one_that_finished_just_after_a_stop_was_requested_has_stopped() {
    Lease lease = started();
    server.stop(ID);

    List<FinishReply> replies = leases.finish(List.of(new Finish(lease, Outcome.succeeded())));

    assertThat(replies).containsExactly(new FinishReply.Recorded(JobState.CANCELLED));
    assertThat(server.path(ID))
        .containsExactly("queued", "dispatched", "running", "stop_requested", "stopped");
    assertThat(server.all(ID).get("exit_code").intValue()).isZero();
  }

  @Test
  void one_that_is_given_back_just_after_a_stop_was_requested_has_stopped() {
    Lease lease = claimed();
    server.stop(ID);

    List<FinishReply> replies =
        leases.finish(List.of(new Finish(lease, new Outcome.Released("its agent ends"))));

    assertThat(replies).containsExactly(new FinishReply.Recorded(JobState.CANCELLED));
    assertThat(server.status(ID)).isEqualTo("stopped");
  }

  @Test
  void one_that_is_to_stop_and_is_somebody_elses_by_now_is_left_alone() {
    Lease lease = started();
    server.stop(ID);
    ObjectNode others =
        Json.object().put("job_id", ID).put("status", "stop_requested").put("worker_id", "other");
    assertThat(address.report(others).isOk()).isTrue();

    List<FinishReply> replies = leases.finish(List.of(new Finish(lease, Outcome.succeeded())));

    assertThat(replies).containsExactly(new FinishReply.Lost());
    assertThat(server.status(ID)).isEqualTo("stop_requested");
  }

  @Test
  void what_became_of_an_earlier_attempt_is_not_told_of_the_one_that_runs_now() {
    Lease earlier = started();
    server.add(payload()); // put back by force, and given to the same worker
    Lease current = started();

    List<Extension> beat = leases.extend(List.of(earlier, current));
    List<FinishReply> lost = leases.finish(List.of(new Finish(earlier, failed())));
    leases.started(earlier.key(), new SimulationLeases.Container("c0", "opeva_job_x"), WORKER);

    assertThat(beat)
        .extracting(Extension::status)
        .containsExactly(Extension.Status.LOST, Extension.Status.EXTENDED);
    assertThat(lost).containsExactly(new FinishReply.Lost());
    assertThat(server.status(ID)).isEqualTo("running");
    assertThat(server.all(ID).get("container_id").stringValue()).isEqualTo("c1");
    assertThat(leases.finish(List.of(new Finish(current, Outcome.succeeded()))))
        .containsExactly(new FinishReply.Recorded(JobState.SUCCEEDED));
    assertThat(server.status(ID)).isEqualTo("finished");
  }

  @Test
  void a_job_that_was_lost_and_is_on_its_way_here_again_is_not_ended_by_what_was_lost() {
    Lease lost = started();
    server.add(payload()); // put back by force

    List<Extension> beat = leases.extend(List.of(lost));
    assertThat(address.nextJob(WORKER)).isPresent(); // handed out, and the answer under way
    leases.started(lost.key(), new SimulationLeases.Container("c0", "opeva_job_x"), WORKER);
    List<FinishReply> replies =
        leases.finish(List.of(new Finish(lost, new Outcome.LeaseExpired(WORKER))));

    assertThat(beat).extracting(Extension::status).containsExactly(Extension.Status.LOST);
    assertThat(replies).containsExactly(new FinishReply.Lost());
    assertThat(server.path(ID)).containsExactly("queued", "dispatched");
    assertThat(server.all(ID).has("container_id")).isFalse();
  }

  @Test
  void lines_of_an_earlier_attempt_are_not_in_the_log_of_the_one_that_runs_now() {
    Lease lost = started();
    server.add(payload());
    Lease current = started();

    ReportReply late = leases.report(lost, line("late"));
    ReportReply own = leases.report(current, line("own"));

    assertThat(late).isEqualTo(new ReportReply.Lost());
    assertThat(own).isEqualTo(new ReportReply.Stored(0, 0));
    assertThat(directory.resolve("jobs/" + ID + "/logs/" + ID + ".log")).hasContent("own");
  }

  @Test
  void lines_of_a_job_that_was_lost_are_not_stored() {
    Lease lost = started();
    server.add(payload());

    assertThat(leases.extend(List.of(lost)))
        .extracting(Extension::status)
        .containsExactly(Extension.Status.LOST);
    assertThat(leases.report(lost, line("late"))).isEqualTo(new ReportReply.Lost());
    assertThat(directory.resolve("jobs")).doesNotExist();
  }

  @Test
  void ends_that_are_told_again_because_one_was_not_heard_are_told_of_the_same_jobs() {
    Lease first = started();
    server.add(payload("other"));
    Lease second = claimed();
    List<Finish> ends =
        List.of(new Finish(first, Outcome.succeeded()), new Finish(second, failed()));
    server.failOnce("other");

    assertThatThrownBy(() -> leases.finish(ends)).isInstanceOf(HoldfastException.class);
    List<FinishReply> replies = leases.finish(ends);

    assertThat(replies)
        .containsExactly(
            new FinishReply.Recorded(JobState.SUCCEEDED),
            new FinishReply.Recorded(JobState.FAILED));
    assertThat(server.status(ID)).isEqualTo("finished");
    assertThat(server.status("other")).isEqualTo("failed");
  }

  @Test
  void jobs_that_were_handed_out_are_run_although_the_next_question_fails() {
    server.failWhenEmpty();

    assertThat(leases.claim(ClaimRequest.of(WORKER, Set.of("agents"), 2)).leases()).hasSize(1);
    assertThatThrownBy(() -> leases.claim(ClaimRequest.of(WORKER, Set.of("agents"), 2)))
        .isInstanceOf(HoldfastException.class);
  }

  @Test
  void the_journal_has_the_servers_own_id_of_what_began_and_of_what_ended() throws IOException {
    Journal journal = new Journal(directory.resolve("leases"), leases::serverId);
    Lease lease = claimed();

    journal.begun(lease);
    assertThat(journal.left()).extracting(Journal.Entry::serverId).containsExactly(ID);
    assertThat(journal.left())
        .extracting(Journal.Entry::jobId)
        .containsExactly(lease.key().jobId());
    journal.ended(new Finish(lease, Outcome.succeeded()));

    assertThat(journal.left()).extracting(Journal.Entry::serverId).containsExactly(ID);
    assertThat(journal.left()).allMatch(entry -> entry.end().isPresent());
  }

  @Test
  void a_journal_of_before_there_were_ids_of_servers_is_read() throws IOException {
    UUID id = UUID.randomUUID();
    Path entries = Files.createDirectory(directory.resolve("leases"));
    Files.writeString(
        entries.resolve(id + "-7.json"),
        "{\"worker\": \"tiago-gpu\", \"job_id\": \"%s\", \"fence\": 7}".formatted(id));

    Journal journal = new Journal(entries, UUID::toString);

    assertThat(journal.left()).extracting(Journal.Entry::serverId).containsExactly(id.toString());
  }

  private Lease claimed() {
    return leases.claim(ClaimRequest.of(WORKER, Set.of("agents"), 1)).leases().getFirst();
  }

  private Lease started() {
    Lease lease = claimed();
    leases.started(lease.key(), new SimulationLeases.Container("c1", "opeva_job_x"), WORKER);
    assertThat(server.status(ID)).isEqualTo("running");
    return lease;
  }

  private static Report line(String text) {
    return Report.ofLog(List.of(text));
  }

  private static Outcome failed() {
    return Outcome.failed(Failure.retryable("EXIT_137", "killed"));
  }

  private static ObjectNode payload() {
    return payload(ID);
  }

  private static ObjectNode payload(String id) {
    ObjectNode json =
        Json.object()
            .put("job_id", id)
            .put("config_path", "configs/demo.yaml")
            .put("image", "calof/opeva_simulator:latest")
            .put("container_name", "opeva_job_x");
    json.putArray("volumes");
    json.putObject("env");
    return json;
  }
}
