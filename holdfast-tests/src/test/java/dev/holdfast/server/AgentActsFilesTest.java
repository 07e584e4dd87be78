package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.audit.Act;
import dev.holdfast.job.Placement;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.Covers;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What people do to a job is in its files when they have their answer. */
@Covers({"C2", "C10"})
class AgentActsFilesTest extends AgentsRig {

  private Reply ops(String id, String what, String json) {
    Reply reply = fleet.caller().post("/ops/jobs/" + id + "/" + what, json);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply;
  }

  private JsonNode entry(String id) {
    return fleet.json("queue/" + id + ".json");
  }

  @Test
  void one_that_waits_and_is_given_to_another_host_is_shown_so() {
    String id = fleet.submit("{\"config_path\": \"demo.yaml\", \"target_host\": \"a\"}");

    ops(id, "requeue", "{\"preferred_host\": \"b\", \"require_host\": false}");

    assertThat(entry(id)).isEqualTo(fleet.caller().get("/queue").json().path(0));
    assertThat(entry(id).path("preferred_host").asString()).isEqualTo("b");
    assertThat(entry(id).path("require_host").asBoolean()).isFalse();
    assertThat(fleet.json("jobs/" + id + "/job_info.json").path("target_host").asString())
        .isEqualTo("b");
  }

  @Test
  void one_that_waits_and_is_no_longer_for_its_host_alone_is_shown_so() {
    String id = fleet.submit("{\"config_path\": \"demo.yaml\", \"target_host\": \"a\"}");

    ops(id, "requeue", "{\"require_host\": false}");

    assertThat(entry(id).path("preferred_host").asString()).isEqualTo("a");
    assertThat(entry(id).path("require_host").asBoolean()).isFalse();
  }

  // The change is committed, and whoever made it came to its end before it wrote a file.
  @Test
  void one_that_was_given_to_another_host_and_not_shown_is_shown_by_the_next_round() {
    String id = fleet.submit();

    tenant.acts().place(UUID.fromString(id), Placement.requiring("b"), Act.by("somebody"));
    fleet.reap();

    assertThat(entry(id).path("preferred_host").asString()).isEqualTo("b");
    assertThat(entry(id).path("require_host").asBoolean()).isTrue();
  }

  @Test
  void one_that_was_canceled_says_why() {
    fleet.submit();
    String id = fleet.running("a");

    ops(id, "cancel", "{\"reason\": \"the wrong data\"}");

    JsonNode status = fleet.json("jobs/" + id + "/status.json");
    assertThat(status.path("status").asString()).isEqualTo("canceled");
    assertThat(status.path("error").asString()).isEqualTo("the wrong data");
    assertThat(fleet.caller().get("/status/" + id).json()).isEqualTo(status);
  }

  @Test
  void a_named_configuration_that_cannot_be_read_is_for_the_agent_to_complain_about()
      throws IOException {
    fleet.submit();
    Files.writeString(fleet.file("configs/broken.yaml"), "a: [");
    Files.writeString(fleet.file("configs/large.yaml"), "a: " + "b".repeat(1 << 20));

    for (String name : List.of("broken", "large")) {
      String id = fleet.submit("{\"config_path\": \"%s.yaml\"}".formatted(name));

      assertThat(fleet.status(id)).isEqualTo("queued");
      assertThat(fleet.json("jobs/" + id + "/job_info.json").path("job_name").asString())
          .isEqualTo("UnnamedExperiment-UnnamedRun");
    }
  }
}
