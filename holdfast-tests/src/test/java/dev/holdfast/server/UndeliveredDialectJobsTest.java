package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.fault.Fault;
import dev.holdfast.job.NewJob;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a worker of a dialect was granted and certainly did not get goes back at once. */
class UndeliveredDialectJobsTest extends UndeliveredRig {

  @Test
  void a_pulled_job_goes_back_when_nobody_is_there_to_take_it() throws Exception {
    UUID id = tenant.jobs().enqueue(NewJob.of("scrape", 1).withQueue("pull")).id();
    try (RawHttp ghost = RawHttp.to(worker)) {
      once(this::claims, () -> hangUp(ghost));
      ghost.get("/api/pull_job");

      awaitGivenBack(id);
    }
    isBackAtNoCost(id);
  }

  @Test
  void an_agents_job_goes_back_when_nobody_is_there_to_take_it() throws Exception {
    UUID id = simulation();
    try (RawHttp ghost = RawHttp.to(worker)) {
      once(this::claims, () -> hangUp(ghost));
      ghost.post("/api/agent/next-job", "{\"worker_id\": \"a1\"}");

      awaitGivenBack(id);
    }
    isBackAtNoCost(id);
    assertThat(worker.post("/api/agent/next-job", "{\"worker_id\": \"a2\"}").text())
        .contains(id.toString());
  }

  @Test
  void an_agents_job_goes_back_when_it_cannot_be_written_down_that_it_was_given() {
    UUID id = simulation();
    once(
        point -> point.sql().contains("INSERT INTO " + schema() + ".agent_job (job_id, worker"),
        () -> Optional.of(Fault.SERIALIZATION_FAILURE));

    Reply reply = worker.post("/api/agent/next-job", "{\"worker_id\": \"a1\"}");

    assertThat(reply.status()).isEqualTo(503);
    isBackAtNoCost(id);
  }

  private UUID simulation() {
    Caller submitter =
        caller(Optional.of(TestServer.shared().token(Role.SUBMITTER, Optional.of(tenant.name()))));
    return UUID.fromString(
        submitter
            .post("/run-simulation", "{\"config\": {\"experiment\": {\"name\": \"e\"}}}")
            .json()
            .path("job_id")
            .asString());
  }
}
