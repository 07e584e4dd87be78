package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.auth.Role;
import dev.holdfast.tenant.TenantName;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a page proves before it is obeyed, what it lets in, and what it offers to whom. */
class SessionPagesTest extends SessionsRig {

  @Test
  void a_form_without_its_proof_does_nothing() {
    Visitor visitor = signedIn(Role.ADMIN);
    String form = "name=default&paused=true";

    assertThat(visitor.post(port(), "/ui/do/queue", form).statusCode()).isEqualTo(403);
    assertThat(visitor.post(port(), "/ui/do/queue", form + "&_csrf=x").statusCode()).isEqualTo(403);
    assertThat(tenant.queues().get("default").paused()).isFalse();
    String csrf = visitor.csrf(port(), "/ui/queues");
    assertThat(visitor.post(port(), "/ui/do/queue", form + "&_csrf=" + csrf).statusCode())
        .isEqualTo(303);
    assertThat(tenant.queues().get("default").paused()).isTrue();
  }

  @Test
  void a_form_of_one_tenants_page_does_nothing_in_another() {
    Visitor visitor = signedIn(Role.SYSTEM);
    String csrf = visitor.csrf(port(), "/ui/queues"); // of the default tenant
    visitor.post(port(), "/ui/do/look", "_csrf=%s&tenant=%s".formatted(csrf, tenant.name()));

    HttpResponse<String> answer =
        visitor.post(port(), "/ui/do/queue", "_csrf=%s&name=default&paused=true".formatted(csrf));

    assertThat(answer.statusCode()).isEqualTo(403);
    assertThat(tenant.queues().get("default").paused()).isFalse();
    assertThat(tenant.holdfast().queues(TenantName.DEFAULT).get("default").paused()).isFalse();
  }

  @Test
  void without_authentication_there_is_no_signing_in_and_forms_still_prove_themselves() {
    try (TestServer open = TestServer.start(TestServer.config().withAuth(false))) {
      Visitor visitor = new Visitor();
      assertThat(visitor.get(open.port(), "/ui/overview").statusCode()).isEqualTo(200);
      assertThat(visitor.get(open.port(), "/ui/login").statusCode()).isEqualTo(303);
      assertThat(visitor.post(open.port(), "/ui/do/look", "tenant=" + tenant.name()).statusCode())
          .isEqualTo(403);
      String csrf = visitor.csrf(open.port(), "/ui/overview");
      assertThat(
              visitor
                  .post(
                      open.port(),
                      "/ui/do/look",
                      "_csrf=%s&tenant=%s".formatted(csrf, tenant.name()))
                  .statusCode())
          .isEqualTo(303);
      assertThat(visitor.get(open.port(), "/ui/overview").body()).contains(tenant.name().value());
    }
  }

  @Test
  void pages_allow_nothing_inline_and_nothing_from_elsewhere() {
    HttpResponse<String> page = signedIn(Role.ADMIN).get(port(), "/ui/overview");

    assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
        .contains("default-src 'none'")
        .contains("frame-ancestors 'none'")
        .doesNotContain("unsafe");
    assertThat(page.body()).doesNotContain("<script>").doesNotContain(" style=");
    assertThat(page.headers().firstValue("Cache-Control")).contains("no-store");
  }

  @Test
  void a_viewer_sees_no_button_it_may_not_press() {
    LivelyTenant lively = LivelyTenant.in(TestServer.shared(), tenant.name());
    Visitor viewer = signedIn(Role.VIEWER);

    for (String path :
        List.of(
            "/ui/overview",
            "/ui/jobs",
            "/ui/jobs/" + lively.failed,
            "/ui/queues",
            "/ui/resources",
            "/ui/resource?name=target:site-42",
            "/ui/schedules",
            "/ui/schedule?name=nightly-report",
            "/ui/workers",
            "/ui/settings")) {
      HttpResponse<String> page = viewer.get(port(), path);
      assertThat(page.statusCode()).as(path).isEqualTo(200);
      assertThat(page.body()).as(path).doesNotContain("/ui/do/").doesNotContain("customer-16\"");
    }
    assertThat(viewer.get(port(), "/ui/audit").statusCode()).isEqualTo(403);
    assertThat(viewer.get(port(), "/ui/tokens").statusCode()).isEqualTo(403);
    assertThat(viewer.get(port(), "/ui/tokens").headers().firstValue("Content-Type").orElse(""))
        .startsWith("text/html");
  }

  @Test
  void an_operator_is_offered_no_cancelling() {
    LivelyTenant lively = LivelyTenant.in(TestServer.shared(), tenant.name());
    Visitor operator = signedIn(Role.OPERATOR);

    String page = operator.get(port(), "/ui/jobs/" + lively.queued).body();

    assertThat(page).contains("/ui/do/job-pause").doesNotContain("/ui/do/job-cancel");
    assertThat(page).doesNotContain("/ui/do/job-stop"); // it would be cancelled by that
  }

  @Test
  void what_is_not_there_is_a_page_too() {
    Visitor viewer = signedIn(Role.VIEWER);

    HttpResponse<String> job = viewer.get(port(), "/ui/jobs/00000000-0000-4000-8000-000000000000");
    HttpResponse<String> page = viewer.get(port(), "/ui/nothing");

    assertThat(job.statusCode()).isEqualTo(404);
    assertThat(job.body()).contains("There is no job").contains("To the overview");
    assertThat(page.statusCode()).isEqualTo(404);
    assertThat(page.headers().firstValue("Content-Type").orElse("")).startsWith("text/html");
  }
}
