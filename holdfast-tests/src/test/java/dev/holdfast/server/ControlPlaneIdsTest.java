package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Json;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Sites, environments and nodes, as a control plane calls them. */
@Covers({"A2", "A3"})
class ControlPlaneIdsTest {

  private static final String JOBS = "/api/v1/jobs";

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private Caller admin;

  @BeforeEach
  void connect() {
    admin = TestServer.shared().as(Role.ADMIN, tenant.name());
  }

  @Test
  void an_id_that_is_a_number_is_the_same_as_its_digits() {
    Reply made =
        admin.post(
            JOBS,
            """
            {"kind": "env_deploy", "site_id": 42, "environment_id": 9, "node_id": 7}
            """);

    assertThat(made.status()).as(made.text()).isEqualTo(201);
    assertThat(made.json().path("resources").valueStream().map(JsonNode::asString))
        .containsExactlyInAnyOrder("site:42", "node:7");
    assertThat(made.json().path("subject").path("id").asString()).isEqualTo("9");
  }

  @ParameterizedTest
  @ValueSource(strings = {"..", "../x", "a/b", "a\\b", "/", "x/../y"})
  void an_id_that_is_a_path_is_refused_and_nothing_is_stored(String id) {
    for (String field : new String[] {"site_id", "environment_id", "node_id"}) {
      Reply refused =
          admin.post(JOBS, Json.write(Json.object().put("kind", "env_deploy").put(field, id)));

      assertThat(refused.status()).as(refused.text()).isEqualTo(400);
      assertThat(refused.json().path("detail").asString()).startsWith(field);
    }
    assertThat(admin.get(JOBS).json().path("jobs")).isEmpty();
  }

  @Test
  void nor_can_a_playbook_be_told_of_such_an_id_in_other_words() {
    Caller system = TestServer.shared().as(Role.SYSTEM, tenant.name());
    Reply put =
        system.put("/api/v1/kinds/renew", "{\"executor\": \"ansible\", \"playbook\": \"x.yml\"}");
    assertThat(put.status()).as(put.text()).isEqualTo(200);

    for (String said :
        new String[] {
          "\"resources\": [\"site:../x\"]",
          "\"resources\": [\"node:a/b\"]",
          "\"subject\": {\"type\": \"environment\", \"id\": \"../x\", \"during\": \"deploying\"}",
          "\"subject\": {\"type\": \"site\", \"id\": \"a/b\", \"during\": \"deploying\"}"
        }) {
      Reply refused = admin.post(JOBS, "{\"kind\": \"renew\", " + said + "}");

      assertThat(refused.status()).as(refused.text()).isEqualTo(400);
      assertThat(refused.json().path("detail").asString()).contains("an id, without ..");
    }
    assertThat(admin.get(JOBS).json().path("jobs")).isEmpty();
    assertThat(admin.post(JOBS, "{\"kind\": \"crawl\", \"resources\": [\"site:a/b\"]}").status())
        .as("whoever runs no playbook names its resources as it likes")
        .isEqualTo(201);
  }

  @Test
  void an_id_is_text_or_a_whole_number() {
    for (String id : new String[] {"1.5", "true", "{}", "[7]"}) {
      Reply refused = admin.post(JOBS, "{\"kind\": \"env_deploy\", \"node_id\": " + id + "}");

      assertThat(refused.status()).as(refused.text()).isEqualTo(400);
    }
  }
}
