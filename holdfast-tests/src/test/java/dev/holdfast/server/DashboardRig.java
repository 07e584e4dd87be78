package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import dev.holdfast.job.JobState;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A tenant in which much goes on, and an admin who looks at it in a real browser. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.SAME_THREAD)
abstract class DashboardRig {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  Browsing browsing;
  LivelyTenant lively;
  Page page;

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

  void go(String path) {
    page.navigate(Browsing.base(TestServer.shared()) + path);
  }

  String said() {
    return page.textContent("main");
  }

  /** Opens an act, says why, and does it. */
  void act(String label) {
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
  @SuppressWarnings("deprecation") // its successor waits for an address, and that may stay the same
  void submit(Locator button) {
    page.waitForNavigation(button::click);
    page.waitForSelector(".flash");
  }

  JobState state(String id) {
    return tenant.job(UUID.fromString(id)).state();
  }
}
