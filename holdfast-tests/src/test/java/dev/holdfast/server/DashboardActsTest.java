package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What is done to jobs and targets from their pages. */
class DashboardActsTest extends DashboardRig {

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
}
