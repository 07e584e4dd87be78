package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Limits;
import dev.holdfast.job.NewJob;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** A target's name may be as long as any; its resource's is longer, and can be asked about. */
class LongTargetNamesTest {

  private static final String API = "/api/v1";
  private static final String TARGET = "t".repeat(Limits.NAME_CHARS);
  private static final String RESOURCE = "target:" + TARGET;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private Caller admin;

  @BeforeEach
  void connect() {
    admin = TestServer.shared().as(Role.ADMIN, tenant.name());
  }

  @Test
  void a_blocked_target_is_read_and_released() {
    UUID failed = blocked();
    UUID next = tenant.jobs().enqueue(NewJob.of("book", 2).withTarget(TARGET)).id();

    JsonNode state = ok(admin.get(API + "/resources/" + RESOURCE));
    Reply page = admin.get("/ui/resource?name=" + RESOURCE);
    JsonNode released = ok(admin.post(API + "/resources/" + RESOURCE + "/release", "{}"));

    assertThat(state.path("name").asString()).isEqualTo(RESOURCE);
    assertThat(state.path("blocks").path(0).path("job_id").asString()).isEqualTo(failed.toString());
    assertThat(page.status()).isEqualTo(200);
    assertThat(page.text()).contains(failed.toString());
    assertThat(released.path("blocks")).isEmpty();
    assertThat(ok(admin.get(API + "/jobs/" + next + "/why")).path("blocked_by").isObject())
        .isFalse();
  }

  @Test
  void its_capacity_is_changed() {
    JsonNode wider = ok(admin.put(API + "/resources/" + RESOURCE, "{\"capacity\": 2}"));

    assertThat(wider.path("capacity").asInt()).isEqualTo(2);
    assertThat(ok(admin.get(API + "/resources/" + RESOURCE)).path("capacity").asInt()).isEqualTo(2);
  }

  @Test
  void lists_go_on_after_it_and_jobs_are_found_by_it() {
    UUID failed = blocked();
    ok(admin.put(API + "/resources/" + RESOURCE, "{\"capacity\": 1}"));
    ok(admin.put(API + "/resources/zone:1", "{\"capacity\": 2}"));

    JsonNode first = ok(admin.get(API + "/resources?limit=1"));
    JsonNode second = ok(admin.get(API + "/resources?limit=1&after=" + RESOURCE));

    assertThat(first.path("after").asString()).isEqualTo(RESOURCE);
    assertThat(second.path("resources").path(0).path("name").asString()).isEqualTo("zone:1");
    assertThat(admin.get("/ui/resources?after=" + RESOURCE).status()).isEqualTo(200);
    assertThat(ok(admin.get(API + "/jobs?resource=" + RESOURCE)).toString())
        .contains(failed.toString());
  }

  @Test
  void a_name_that_no_resource_can_have_is_refused_as_ever() {
    for (String name : new String[] {RESOURCE + "t", "site:" + TARGET, TARGET + "t"}) {
      assertThat(admin.get(API + "/resources/" + name).status()).isEqualTo(400);
      assertThat(admin.put(API + "/resources/" + name, "{\"capacity\": 2}").status())
          .isEqualTo(400);
      assertThat(admin.post(API + "/resources/" + name + "/release", "{}").status()).isEqualTo(400);
      assertThat(admin.get(API + "/resources?after=" + name).status()).isEqualTo(400);
      assertThat(admin.get(API + "/jobs?resource=" + name).status()).isEqualTo(400);
    }
  }

  /** A job that failed, and stands on its target. */
  private UUID blocked() {
    JsonNode job =
        admin
            .post(
                API + "/jobs",
                "{\"kind\": \"book\", \"target\": \"%s\", \"on_failure\": \"hold\"}"
                    .formatted(TARGET))
            .json();
    UUID id = UUID.fromString(job.path("id").asString());
    ok(admin.post(API + "/jobs/" + id + "/fail", "{\"force\": true}"));
    return id;
  }

  private static JsonNode ok(Reply reply) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json();
  }
}
