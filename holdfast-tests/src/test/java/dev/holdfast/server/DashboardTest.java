package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.server.auth.Role;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What the pages show, and how one moves among them. */
class DashboardTest extends DashboardRig {

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
}
