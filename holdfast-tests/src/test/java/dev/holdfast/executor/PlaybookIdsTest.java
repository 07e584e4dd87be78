package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Json;
import dev.holdfast.job.Kind;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** What a playbook is told of the site, the environment and the node that its job is about. */
@Covers("A10")
class PlaybookIdsTest {

  private static final Kind<String> DEPLOY = Kind.of("deploy", String.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  // Otherwise two playbooks could change the same site at the same time.
  @Test
  void arguments_cannot_name_a_site_that_the_job_does_not_hold() {
    JsonNode told =
        told(
            Map.of("site_id", "7", "environment_id", "../8", "node_id", 9, "branch", "main"),
            Map.of());

    assertThat(told.path("site_id").asString("?")).isEmpty();
    assertThat(told.path("environment_id").asString("?")).isEmpty();
    assertThat(told.path("node_id").asString("?")).isEmpty();
    assertThat(told.path("branch").asString("?")).isEqualTo("main");
  }

  @Test
  void what_the_job_names_is_told_whatever_its_arguments_say() {
    JsonNode told = told(Map.of("site_id", "7"), Map.of("site_id", "42", "node_id", "1"));

    assertThat(told.path("site_id").asString("?")).isEqualTo("42");
    assertThat(told.path("node_id").asString("?")).isEqualTo("1");
    assertThat(told.path("environment_id").asString("?")).isEmpty();
  }

  private JsonNode told(Map<String, Object> args, Map<String, String> ids) {
    Runbook book = new Runbook(Optional.empty(), Optional.empty(), ids);
    List<String> told = new ArrayList<>();
    tenant.jobs().enqueue(DEPLOY.job("x"));
    tenant
        .worker()
        .handle(
            DEPLOY,
            (any, job) -> told.add(PlaybookVars.of(args, new Secrets(Map.of()), book, job).json()))
        .build()
        .runDue();
    assertThat(told).hasSize(1);
    return Json.parse("vars", told.getFirst());
  }
}
