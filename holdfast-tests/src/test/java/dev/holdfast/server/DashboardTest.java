package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import tools.jackson.databind.node.ObjectNode;

/** Every page and every act, in a real browser. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.SAME_THREAD)
class DashboardTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private Browsing browsing;
  private LivelyTenant lively;
  private Page page;

  @BeforeAll
  void open() {
    browsing = new Browsing();
  }

  @AfterAll
  void close() {
    browsing.close();
  }

  @BeforeEach
  void signIn() {
    lively = LivelyTenant.in(TestServer.shared(), tenant.name());
    page = browsing.as(TestServer.shared(), Role.ADMIN, tenant.name(), ColorScheme.LIGHT);
  }

  @AfterEach
  void nothingIsWrong() {
    page.context().close();
    List<String> complaints = List.copyOf(browsing.complaints());
    browsing.complaints().clear();
    assertThat(complaints).isEmpty();
  }

  private void go(String path) {
    page.navigate(Browsing.base(TestServer.shared()) + path);
  }

  private String said() {
    return page.textContent("main");
  }

  /** Opens an act, says why, and does it. */
  private void act(String label) {
    Locator act =
        page.locator("details.act")
            .filter(
                new Locator.FilterOptions()
                    .setHas(page.locator("summary:text-is(\"" + label + "\")")))
            .first();
    act.locator("summary").click();
    if (act.locator("input[name=reason]").count() > 0) {
      act.locator("input[name=reason]").fill("because of a test");
    }
    submit(act.locator("form button").last());
  }

  /** Until the page that answers is there: one like it may have been before. */
  private void submit(Locator button) {
    page.waitForNavigation(button::click);
    page.waitForSelector(".flash");
  }

  private JobState state(String id) {
    return tenant.job(UUID.fromString(id)).state();
  }

  @Test
  void the_overview_tells_the_whole_tenant() {
    assertThat(said())
        .contains("succeeded")
        .contains("ADDRESS_REFUSED")
        .contains("target:site-42")
        .contains("all hold")
        .contains("Throughput");
    assertThat(page.textContent(".tile.succeeded strong")).isEqualTo("16");
    assertThat(page.textContent(".tile.paused strong")).isEqualTo("1");
    assertThat(page.locator("#live.on").count()).isLessThanOrEqualTo(1);
    page.waitForSelector("#live.on");
  }

  @Test
  void jobs_are_filtered_by_states_and_words() {
    go("/ui/jobs");
    page.click(".chip.failed");
    page.waitForURL("**state=failed");
    assertThat(page.locator("#rows tr").count()).isEqualTo(3);
    page.click(".filters summary");
    page.fill("#filters input[name=error]", "mailbox");
    page.click("#filters button");
    page.waitForURL("**error=mailbox**");
    assertThat(page.locator("#rows tr").count()).isEqualTo(2);
    go("/ui/jobs?tag=premium");
    assertThat(page.locator("#rows tr").count()).isEqualTo(1);
    go("/ui/jobs?resource=gpu:1");
    assertThat(page.locator("#rows tr").count()).isEqualTo(2);
    go("/ui/jobs?worker=encoder-1");
    assertThat(page.locator("#rows tr").count()).isEqualTo(2);
    go("/ui/jobs?kind=nobody-has-it");
    assertThat(said()).contains("No such jobs");
  }

  @Test
  void a_long_list_goes_on_page_by_page() {
    for (int i = 0; i < 60; i++) {
      tenant.jobs().enqueue(NewJob.of("page", i).withQueue("paged"));
    }
    go("/ui/jobs?queue=paged");
    assertThat(page.locator("#rows tr").count()).isEqualTo(50);
    page.click("a[rel=next]");
    page.waitForURL("**after=**");
    assertThat(page.locator("#rows tr").count()).isEqualTo(10);
  }

  @Test
  void rows_change_in_place_and_new_jobs_wait_to_be_asked_for() {
    go("/ui/jobs?queue=mail&state=queued");
    page.waitForSelector("#live.on");
    String first = page.getAttribute("#rows tr", "id");
    page.check("#rows tr:first-child input");
    page.waitForTimeout(2_100); // the page looks again at most every two seconds

    tenant.jobs().enqueue(NewJob.of("mail.send", "new").withQueue("mail"));
    tenant.acts().pause(UUID.fromString(lively.queued), dev.holdfast.audit.Act.by("somebody"));

    page.waitForSelector("#job-" + lively.queued + " .state.paused");
    page.waitForSelector("a.newer");
    assertThat(page.getAttribute("#rows tr", "id")).isEqualTo(first);
    assertThat(page.isChecked("#rows tr:first-child input")).isTrue();
    page.click("a.newer");
    page.waitForURL("**queue=mail**");
    assertThat(page.getAttribute("#rows tr", "id")).isNotEqualTo(first);
  }

  @Test
  void many_are_acted_on_after_a_preview() {
    go("/ui/jobs?state=failed&kind=mail.send");
    page.check("#every");
    assertThat(page.textContent("#chosen")).isEqualTo("2 selected");
    page.selectOption(".bulk select", "retry");
    page.fill(".bulk input[name=reason]", "the mail server is back");
    page.click(".bulk button");
    assertThat(said()).contains("Preview: retry").contains("2 would retry");
    assertThat(state(lively.failed)).isEqualTo(JobState.FAILED);

    page.click("form[action='/ui/bulk'] button");

    assertThat(said()).contains("Done: retry").contains("2 done");
    assertThat(state(lively.failed)).isEqualTo(JobState.QUEUED);
    assertThat(tenant.audit().ofJob(UUID.fromString(lively.failed)).getLast().reason())
        .contains("the mail server is back");
  }

  @Test
  void many_are_acted_on_by_filter() {
    go("/ui/jobs?queue=mail&state=queued");
    page.check("input[name=all]");
    page.selectOption(".bulk select", "cancel");
    page.click(".bulk button");
    assertThat(said()).contains("would cancel");
    page.click("form[action='/ui/bulk'] button");
    assertThat(said()).contains("done");
    assertThat(state(lively.queued)).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void a_running_job_shows_its_progress_its_log_and_what_it_holds() {
    go("/ui/jobs/" + lively.running);
    assertThat(said())
        .contains("42.5 %")
        .contains("pass 1 of 2")
        .contains("segment-030")
        .contains("encoder-1")
        .contains("encoded segment 029")
        .contains("has it")
        .contains("s3://raw/launch.mov");
    assertThat(page.locator(".timeline rect").count()).isGreaterThan(2);
    page.fill("#logfind", "segment 007");
    assertThat(page.textContent("#logfound")).isEqualTo("1 lines");
    assertThat(page.locator("#lines li:visible").count()).isEqualTo(1);
  }

  @Test
  void a_log_is_followed_and_downloaded() {
    go("/ui/jobs/" + lively.running);
    page.waitForSelector("#lines li");
    long fence = tenant.job(UUID.fromString(lively.running)).fence();
    TestServer.shared()
        .as(Role.WORKER, tenant.name())
        .post(
            "/api/v1/jobs/" + lively.running + "/logs",
            "{\"fence\": %d, \"lines\": [\"said while somebody looks\"]}".formatted(fence));

    page.waitForSelector("#lines li:has-text('said while somebody looks')");

    var download = page.waitForDownload(() -> page.click("a[download]"));
    assertThat(download.suggestedFilename()).isEqualTo(lively.running + ".log");
  }

  @Test
  void a_parked_job_says_what_is_in_its_way() {
    go("/ui/jobs/" + lively.parked);
    assertThat(said()).contains("Resource blocked").contains("target:site-42");
    assertThat(page.locator(".why a[href='/ui/jobs/" + lively.standing + "']").count()).isOne();
  }

  @Test
  void every_act_on_a_job_is_done_from_its_page() {
    go("/ui/jobs/" + lively.queued);
    act("Pause");
    assertThat(state(lively.queued)).isEqualTo(JobState.PAUSED);
    act("Resume");
    assertThat(state(lively.queued)).isEqualTo(JobState.QUEUED);
    act("Cancel");
    assertThat(state(lively.queued)).isEqualTo(JobState.CANCELLED);
    act("Retry");
    assertThat(state(lively.queued)).isEqualTo(JobState.QUEUED);
    act("Change");
    act("Stop");
    assertThat(state(lively.queued)).isEqualTo(JobState.CANCELLED);
    go("/ui/jobs/" + lively.pending);
    act("Requeue");
    assertThat(state(lively.pending)).isEqualTo(JobState.QUEUED);
    go("/ui/jobs/" + lively.paused);
    act("Fail");
    assertThat(state(lively.paused)).isEqualTo(JobState.FAILED);
    act("Resolve");
    assertThat(state(lively.paused)).isEqualTo(JobState.SUCCEEDED);
    act("Delete");
    assertThat(tenant.jobs().get(UUID.fromString(lively.paused))).isEmpty();
    assertThat(tenant.audit().latest(20)).anyMatch(act -> act.act().equals("delete"));
  }

  @Test
  void an_act_that_came_too_late_says_so() {
    go("/ui/jobs/" + lively.failed);
    page.click("details.act:has(summary:text-is('Retry')) summary");
    tenant.acts().retry(UUID.fromString(lively.failed), dev.holdfast.audit.Act.by("another"));
    page.click("details.act[open] form button");
    page.waitForSelector(".problem");
    assertThat(said()).contains("Conflict").contains("STATE_CONFLICT");
  }

  @Test
  void a_target_is_freed_by_what_its_page_offers() {
    go("/ui/resources");
    assertThat(said()).contains("target:site-42").contains("gpu:1");
    page.click("table a:text-is('target:site-42')");
    page.waitForURL("**/ui/resource?name=**");
    assertThat(said()).contains("What stands on it").contains("site.deploy");
    assertThat(page.locator("ol.queue li").count()).isEqualTo(2);
    act("Resume");
    assertThat(state(lively.standing)).isEqualTo(JobState.QUEUED);
    go("/ui/resource?name=gpu:1");
    page.click("details.act:has(summary:text-is('Capacity')) summary");
    page.fill("details.act[open] input[name=capacity]", "2");
    submit(page.locator("details.act[open] form button"));
    assertThat(tenant.resources().get("gpu:1").capacity()).isEqualTo(2);
    go("/ui/resource?name=target:site-7");
    act("Release");
    assertThat(tenant.resources().get("target:site-7").blocks()).isEmpty();
  }

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
  void keys_lead_through_the_pages() {
    go("/ui/overview");
    page.waitForSelector("html.script");
    page.keyboard().press("g");
    page.keyboard().press("j");
    page.waitForURL("**/ui/jobs");
    page.waitForSelector("html.script");
    page.keyboard().press("j");
    page.keyboard().press("x");
    assertThat(page.textContent("#chosen")).isEqualTo("1 selected");
    page.keyboard().press("Enter");
    page.waitForURL("**/ui/jobs/*-*");
    page.waitForSelector("html.script");
    page.keyboard().press("/");
    page.keyboard().type(lively.failed);
    page.keyboard().press("Enter");
    page.waitForURL("**/ui/jobs/" + lively.failed);
    page.waitForSelector("html.script");
    page.keyboard().press("?");
    assertThat(page.isVisible("#help")).isTrue();
  }

  @Test
  void light_or_dark_is_chosen_and_kept() {
    go("/ui/jobs");
    page.click("#theme");
    assertThat(page.getAttribute("html", "data-theme")).isEqualTo("dark");
    go("/ui/overview");
    assertThat(page.getAttribute("html", "data-theme")).isEqualTo("dark");
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
