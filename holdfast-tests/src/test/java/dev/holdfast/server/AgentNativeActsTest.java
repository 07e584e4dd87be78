package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.Covers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What people do to agents' jobs by the native API is in the files when they have their answer. */
@Covers({"C2", "C3"})
class AgentNativeActsTest extends AgentsRig {

  private void isShown(String id, String status) {
    assertThat(fleet.json("jobs/" + id + "/status.json").path("status").asString())
        .isEqualTo(status);
    assertThat(fleet.json("job_track.json").path(id).path("status").asString()).isEqualTo(status);
    assertThat(fleet.file("queue/" + id + ".json").toFile().exists())
        .isEqualTo(status.equals("queued"));
  }

  @ParameterizedTest
  @CsvSource({
    "queued, cancel, canceled",
    "queued, pause, launching",
    "dispatched, requeue, queued",
    "running, cancel, stop_requested",
    "running, stop, stop_requested",
    "running, fail, failed",
    "failed, resolve, finished",
    "failed, retry, queued"
  })
  void an_act_is_shown_before_it_is_answered(String from, String act, String after) {
    String id = inStatus(from);

    Reply reply = fleet.caller().post("/api/v1/jobs/" + id + "/" + act, "{}");

    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    isShown(id, after);
  }

  @Test
  void an_act_on_many_is_shown_before_it_is_answered() {
    String one = fleet.submit();
    String other = fleet.submit();

    Reply reply =
        fleet
            .caller()
            .post(
                "/api/v1/jobs/actions",
                "{\"action\": \"cancel\", \"ids\": [\"%s\", \"%s\"]}".formatted(one, other));

    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    isShown(one, "canceled");
    isShown(other, "canceled");
  }

  @Test
  void one_that_was_deleted_is_no_longer_tracked_when_that_is_answered() {
    String id = inStatus("finished");

    Reply reply = fleet.caller().send("DELETE", "/api/v1/jobs/" + id, Optional.empty());

    assertThat(reply.status()).as(reply.text()).isLessThan(300);
    assertThat(fleet.json("job_track.json").has(id)).isFalse();
  }

  // Workers of the native API have names that agents cannot have. A container could put a link
  // where such a name leads.
  @Test
  void a_workers_name_leads_no_file_out_of_the_directory(@TempDir Path outside) throws Exception {
    String id = fleet.submit();
    Path secret = Files.writeString(outside.resolve("admin.token"), "secret");
    Path link = fleet.file("queue/" + id + ".json.claim.a");
    Files.createSymbolicLink(link, outside);

    Reply leased =
        fleet
            .caller()
            .post(
                "/api/v1/leases",
                """
                {"worker": "a/admin.token", "queues": ["agents"], "kinds": ["simulation"],
                 "acknowledge": true}
                """);
    fleet.reap();

    assertThat(leased.status()).as(leased.text()).isEqualTo(200);
    assertThat(leased.json().path("leases").size()).isEqualTo(1);
    isShown(id, "dispatched");
    assertThat(fleet.file("queue").toFile().list())
        .containsExactlyInAnyOrder(link.getFileName().toString(), id + ".json.claim.a_admin.token");
    assertThat(secret).hasContent("secret");

    requeue(id, "{}");

    isShown(id, "queued");
    assertThat(fleet.file("queue").toFile().list())
        .containsExactlyInAnyOrder(link.getFileName().toString(), id + ".json");
    assertThat(secret).hasContent("secret");
    assertThat(outside.toFile().list()).hasSize(1);
  }

  // As an earlier version left it.
  @Test
  void a_recorded_file_outside_the_directory_is_not_deleted(@TempDir Path outside)
      throws Exception {
    String id = inStatus("dispatched");
    Path secret = Files.writeString(outside.resolve("admin.token"), "secret");
    Files.createSymbolicLink(fleet.file("queue/x"), outside);
    tenant.execute("UPDATE {schema}.agent_job SET queue_file = 'x/admin.token'");

    requeue(id, "{}");

    isShown(id, "queued");
    assertThat(secret).hasContent("secret");
  }

  @Covers("C10")
  @Test
  void one_that_was_paused_is_queued_again_by_force_alone() {
    String id = inStatus("queued");
    fleet.caller().post("/api/v1/jobs/" + id + "/pause", "{}");

    Reply unforced = fleet.caller().post("/ops/jobs/" + id + "/requeue", "");
    requeue(id, "{\"force\": true, \"preferred_host\": \"b\"}");

    assertThat(unforced.status()).isEqualTo(409);
    isShown(id, "queued");
    assertThat(fleet.json("queue/" + id + ".json").path("preferred_host").asString())
        .isEqualTo("b");
  }
}
