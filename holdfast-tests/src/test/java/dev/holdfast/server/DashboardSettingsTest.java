package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import dev.holdfast.job.NewJob;
import dev.holdfast.server.auth.Role;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** What is set from the pages: schedules, queues, workers, tenants and the rest. */
class DashboardSettingsTest extends DashboardRig {

  @Test
  void schedules_are_made_triggered_disabled_and_removed() {
    go("/ui/schedules");
    page.click("details.act summary:text-is('New schedule')");
    page.fill("details.act[open] input[name=name]", "hourly");
    page.fill("details.act[open] input[name=cron]", "0 * * * *");
    page.fill("details.act[open] input[name=kind]", "tick");
    submit(page.locator("details.act[open] form button"));
    page.click("table a:text-is('hourly')");
    page.waitForURL("**/ui/schedule?name=hourly");
    assertThat(page.locator("section[aria-label=Next] tbody tr").count()).isEqualTo(10);
    assertThat(page.locator("[data-local]:not(time)").first().textContent()).isNotEmpty();
    act("Trigger");
    assertThat(page.locator("a.slot").count()).isEqualTo(1);
    act("Disable");
    assertThat(tenant.schedules().get("hourly").orElseThrow().schedule().enabled()).isFalse();
    act("Enable");
    page.click("details.act summary:text-is('Edit')");
    page.fill("details.act[open] input[name=cron]", "30 * * * *");
    submit(page.locator("details.act[open] form button"));
    assertThat(said()).contains("30 * * * *");
    act("Delete");
    assertThat(tenant.schedules().get("hourly")).isEmpty();
  }

  @Test
  void editing_a_schedule_keeps_what_its_form_does_not_ask_for() {
    TestServer.shared()
        .as(Role.ADMIN, tenant.name())
        .put(
            "/api/v1/schedules/kept",
            "{\"cron\": \"0 5 * * *\", \"timezone\": \"Europe/Berlin\", \"kind\": \"keep\","
                + " \"priority\": 7, \"max_attempts\": 4, \"timeout_seconds\": null,"
                + " \"on_failure\": \"hold\", \"target\": \"site-9\", \"args\": {\"a\": [1, 2]},"
                + " \"retry\": {\"type\": \"schedule\", \"delays_seconds\": [5, 50]},"
                + " \"dst\": {\"twice\": \"both\", \"missing\": \"skip\"}}");
    ObjectNode before = schedule("kept");
    go("/ui/schedule?name=kept");
    page.click("details.act summary:text-is('Edit')");
    page.fill("details.act[open] input[name=misfire_grace_seconds]", "77");
    submit(page.locator("details.act[open] form button"));

    assertThat(schedule("kept")).isEqualTo(before.put("misfire_grace_seconds", 77));
  }

  private ObjectNode schedule(String name) {
    return (ObjectNode)
        TestServer.shared().as(Role.ADMIN, tenant.name()).get("/api/v1/schedules/" + name).json();
  }

  @Test
  void queues_are_paused_limited_and_go_on() {
    go("/ui/queues");
    assertThat(said()).contains("mail").contains("reports").contains("paused");
    Locator mail = page.locator("tr[id='queue-mail']");
    mail.locator("summary:text-is('Pause')").click();
    submit(page.locator("details.act[open] form button"));
    assertThat(tenant.queues().get("mail").paused()).isTrue();
    mail.locator("summary:text-is('Go on')").click();
    submit(page.locator("details.act[open] form button"));
    mail.locator("summary:text-is('Limit')").click();
    page.fill("details.act[open] input[name=concurrency_limit]", "7");
    submit(page.locator("details.act[open] form button"));
    assertThat(tenant.queues().get("mail").paused()).isFalse();
    assertThat(tenant.queues().get("mail").concurrencyLimit()).contains(7);
  }

  @Test
  void settings_tokens_and_webhooks_are_changed_and_it_is_written_down() {
    go("/ui/settings");
    page.click("tr[id='setting-TOKEN_LIMIT'] summary");
    page.fill("details.act[open] input[name=value]", "777");
    submit(page.locator("details.act[open] form button"));
    assertThat(page.textContent("tr[id='setting-TOKEN_LIMIT']")).contains("777");
    go("/ui/tokens");
    page.click("summary:text-is('New token')");
    page.fill("details.act[open] input[name=name]", "ci");
    page.click("details.act[open] form button");
    String made = page.textContent("#made");
    assertThat(
            new Caller(TestServer.shared().port(), Optional.of(made), Optional.empty())
                .get("/api/v1/jobs")
                .status())
        .isEqualTo(200);
    go("/ui/tokens");
    assertThat(said()).doesNotContain(made);
    page.click("tr:has-text('ci') summary:text-is('Revoke')");
    submit(page.locator("details.act[open] form button"));
    assertThat(
            new Caller(TestServer.shared().port(), Optional.of(made), Optional.empty())
                .get("/api/v1/jobs")
                .status())
        .isEqualTo(401);
    go("/ui/notifications");
    assertThat(said()).contains("on-call").doesNotContain("s3cret");
    act("Delete");
    page.click("summary:text-is('New webhook')");
    page.fill("details.act[open] input[name=name]", "pager");
    page.fill("details.act[open] input[name=url]", "https://example.org/pager");
    page.fill("details.act[open] input[name=secret]", "another");
    page.check("details.act[open] input[value=job_failed]");
    submit(page.locator("details.act[open] form button"));
    assertThat(said()).contains("pager").doesNotContain("on-call");
    go("/ui/audit");
    assertThat(said()).contains("put_setting").contains("make_token").contains("revoke_token");
  }

  @Test
  void a_worker_is_drained_and_goes_on() {
    TestServer server = TestServer.shared();
    page.waitForCondition(() -> {
      go("/ui/workers");
      return page.locator("tr:has-text('mailer-1')").count() == 1;
    });
    page.click("tr:has-text('mailer-1') summary:text-is('Drain')");
    submit(page.locator("details.act[open] form button"));
    assertThat(page.textContent("tr:has-text('mailer-1')")).contains("draining");
    Caller worker = server.as(Role.WORKER, tenant.name());
    String ask = "{\"worker\": \"mailer-1\", \"queues\": [\"drained\"], \"limit\": 1}";
    page.waitForCondition(
        () -> worker.post("/api/v1/leases", ask).json().path("drain").asBoolean(false));
    tenant.jobs().enqueue(NewJob.of("a", 1).withQueue("drained"));
    assertThat(worker.post("/api/v1/leases", ask).json().path("leases").size()).isZero();
    page.click("tr:has-text('mailer-1') summary:text-is('Resume')");
    submit(page.locator("details.act[open] form button"));
    page.waitForCondition(
        () -> worker.post("/api/v1/leases", ask).json().path("leases").size() == 1);
  }

  @Test
  void tenants_are_made_looked_at_and_dropped() {
    Page system = browsing.as(TestServer.shared(), Role.SYSTEM, tenant.name(), ColorScheme.LIGHT);
    String name = tenant.name().value() + "_b";
    system.navigate(Browsing.base(TestServer.shared()) + "/ui/tenants");
    system.click("summary:text-is('New tenant')");
    system.fill("details.act[open] input[name=name]", name);
    system.click("details.act[open] form button");
    system.waitForSelector(".flash");
    system
        .locator("tr")
        .filter(new Locator.FilterOptions().setHasText(name))
        .locator("button:text-is('Look at it')")
        .click();
    system.waitForURL("**/ui/overview");
    assertThat(system.textContent("main")).contains("Nothing has run here yet");
    system.navigate(Browsing.base(TestServer.shared()) + "/ui/jobs");
    assertThat(system.textContent("main")).contains("No jobs yet");
    system.selectOption("#tenant", tenant.name().value());
    system.waitForURL("**/ui/overview");
    system.navigate(Browsing.base(TestServer.shared()) + "/ui/tenants");
    Locator row = system.locator("tr").filter(new Locator.FilterOptions().setHasText(name));
    row.locator("summary:text-is('Drop')").click();
    row.locator("details[open] form button").click();
    system.waitForSelector(".flash");
    assertThat(tenant.holdfast().tenants().list()).noneMatch(each -> each.value().equals(name));
    system.context().close();
  }
}
