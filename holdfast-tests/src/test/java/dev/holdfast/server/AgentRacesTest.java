package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Consequences;
import dev.holdfast.lease.FencelessReports;
import dev.holdfast.lease.FencelessReports.AgentReport;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.LeaseKey;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.rig.Waits;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.Covers;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;

/** A job that moves after somebody has looked at it, and before what he decided is done. */
class AgentRacesTest extends AgentsRig {

  private static final String FORCE = "{\"force\": true}";

  /**
   * Answers what is asked while another process moves the job: the move is written, so whoever acts
   * waits for it, and not committed, so whoever looks does not see it.
   */
  private Reply asked(Supplier<Reply> request, Consumer<PgLeases> move) throws Exception {
    try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
      List<Future<Reply>> asked = new ArrayList<>();
      TransitionHook asking =
          (connection, moved) -> {
            asked.add(thread.submit(request::get));
            Waits.untilSomebodyWaitsFor(Jdbi.open(connection), asked.getFirst()::isDone);
          };
      move.accept(
          new PgLeases(
              tenant.tenant(),
              Set::of,
              new LanePositions(() -> 0),
              RandomGenerator.getDefault(),
              Consequences.of(() -> {}, asking)));
      return asked.getFirst().get(1, TimeUnit.MINUTES);
    }
  }

  private Consumer<PgLeases> end(String id, Outcome outcome, JobState as) {
    UUID job = UUID.fromString(id);
    RemoteLeases.End end =
        new RemoteLeases.End("a", job, tenant.job(job).fence(), outcome, Optional.empty());
    return leases ->
        assertThat(leases.remote().finish(List.of(end)))
            .containsExactly(new FinishReply.Recorded(as));
  }

  private void saysThatItStopped(String id) {
    LeaseKey key =
        new LeaseKey(
            tenant.name().value(), UUID.fromString(id), tenant.job(UUID.fromString(id)).fence());
    AgentReport stopped =
        new AgentReport(
            "stopped",
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());
    assertThat(new FencelessReports(tenant.tenant()).say("a", key, JobState.RUNNING, stopped))
        .isTrue();
  }

  private Reply cancel(String id, String json) {
    return fleet.caller().post("/ops/jobs/" + id + "/cancel", json);
  }

  private Reply delete(String id) {
    return fleet.caller().send("DELETE", "/job/" + id, Optional.empty());
  }

  @Covers("C10")
  @Test
  void a_job_that_finishes_while_somebody_cancels_it_has_finished() throws Exception {
    String id = inStatus("running");

    Reply reply = asked(() -> cancel(id, ""), end(id, Outcome.succeeded(), JobState.SUCCEEDED));

    assertThat(reply.status()).as(reply.text()).isEqualTo(409);
    assertThat(reply.json().path("status").asString()).isEqualTo("finished");
    assertThat(fleet.status(id)).isEqualTo("finished");
  }

  @Covers("C10")
  @Test
  void a_job_that_an_agent_is_given_while_somebody_cancels_it_is_canceled() throws Exception {
    String id = fleet.submit();

    Reply reply =
        asked(
            () -> cancel(id, ""),
            leases ->
                assertThat(leases.claim(ClaimRequest.of("a", Set.of("agents"), 1)).leases())
                    .hasSize(1));

    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(reply.json().path("status").asString()).isEqualTo("canceled");
    assertThat(fleet.report("a", id, "stopped").status()).isEqualTo(409);
    assertThat(fleet.status(id)).isEqualTo("canceled");
  }

  @Covers("C10")
  @Test
  void a_job_that_stops_while_somebody_cancels_it_by_force_is_canceled() throws Exception {
    String id = inStatus("running");
    saysThatItStopped(id);

    Reply reply =
        asked(() -> cancel(id, FORCE), end(id, new Outcome.Stopped(), JobState.CANCELLED));

    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(reply.json().path("status").asString()).isEqualTo("canceled");
    assertThat(fleet.status(id)).isEqualTo("canceled");
  }

  @Covers("C8")
  @Test
  void a_job_that_stops_while_somebody_deletes_it_is_gone() throws Exception {
    String id = inStatus("running");

    Reply reply = asked(() -> delete(id), end(id, new Outcome.Stopped(), JobState.CANCELLED));

    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(delete(id).status()).isEqualTo(404);
    assertThat(fleet.json("job_track.json").has(id)).isFalse();
  }

  @Covers("C9")
  @Test
  void a_job_that_its_agent_gives_back_while_somebody_stops_it_is_canceled_and_the_agent_hears_it()
      throws Exception {
    String id = inStatus("dispatched");
    String stop = "UPDATE {schema}.job SET state = 'stopping' WHERE id = ?";

    try (ExecutorService thread = Executors.newSingleThreadExecutor();
        Handle stopping = tenant.tenant().db().jdbi().open()) {
      stopping.begin();
      stopping.execute(tenant.tenant().db().sql(stop), UUID.fromString(id));
      Future<Reply> report = thread.submit(() -> fleet.report("a", id, "queued"));
      Waits.untilSomebodyWaitsFor(stopping, report::isDone);
      stopping.commit();

      Reply reply = report.get(1, TimeUnit.MINUTES);
      assertThat(reply.status()).as(reply.text()).isEqualTo(409);
      assertThat(reply.json().path("status").asString()).isEqualTo("canceled");
    }
    assertThat(fleet.status(id)).isEqualTo("canceled");
    assertThat(fleet.json("jobs/" + id + "/status.json").path("status").asString())
        .isEqualTo("canceled");
    assertThat(fleet.json("job_track.json").path(id).path("status").asString())
        .isEqualTo("canceled");
  }
}
