package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.PlaywrightException;
import com.microsoft.playwright.Response;
import com.microsoft.playwright.options.ColorScheme;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every page, in light and dark: small, without complaints of the browser, and usable by people who
 * cannot see it. With {@code -Dholdfast.screenshots=DIR} it takes their pictures.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.SAME_THREAD)
class PagesTest {

  private static final long HEAVIEST = 300_000;

  // What a reader would stumble over; what is merely moderate is for taste.
  private static final String AXE =
      """
      async () => {
        const found = await axe.run(document, {resultTypes: ['violations']});
        return found.violations
          .filter(each => ['serious', 'critical'].includes(each.impact))
          .map(each => each.id + ': ' + each.nodes.slice(0, 3).map(node => node.html).join(' | '));
      }
      """;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private Browsing browsing;
  private String axe;

  @BeforeAll
  void open() throws IOException {
    browsing = new Browsing();
    axe = axe();
  }

  @AfterAll
  void close() {
    browsing.close();
  }

  private static String axe() throws IOException {
    Properties properties = new Properties();
    try (InputStream in =
        PagesTest.class.getResourceAsStream(
            "/META-INF/maven/org.webjars.npm/axe-core/pom.properties")) {
      properties.load(in);
    }
    String path =
        "/META-INF/resources/webjars/axe-core/%s/axe.min.js"
            .formatted(properties.getProperty("version"));
    try (InputStream in = PagesTest.class.getResourceAsStream(path)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Timeout(180)
  @ParameterizedTest
  @MethodSource("dev.holdfast.server.Browsing#schemes")
  void every_page_is_light_and_sound_and_for_everybody(ColorScheme scheme) throws IOException {
    LivelyTenant lively = LivelyTenant.in(TestServer.shared(), tenant.name());
    Page page = browsing.as(TestServer.shared(), Role.SYSTEM, tenant.name(), scheme);
    List<Response> responses = new ArrayList<>();
    page.onResponse(responses::add);
    List<String> wrong = new ArrayList<>();
    for (Map.Entry<String, String> each : pages(lively).entrySet()) {
      responses.clear();
      page.navigate(Browsing.base(TestServer.shared()) + each.getValue());
      page.waitForSelector("html.script");
      long weight =
          List.copyOf(responses).stream()
              .filter(response -> !response.url().matches(".*(/ui/events|/log\\?.*)")) // endless
              .mapToLong(PagesTest::weight)
              .sum();
      if (weight > HEAVIEST || weight < 1_000) {
        wrong.add(each.getKey() + " weighs " + weight);
      }
      found(page).forEach(finding -> wrong.add(each.getKey() + " " + finding));
      picture(page, each.getKey(), scheme);
    }
    page.context().close();
    wrong.addAll(browsing.complaints());
    browsing.complaints().clear();

    assertThat(wrong).isEmpty();
  }

  private static long weight(Response response) {
    try {
      return response.body().length;
    } catch (PlaywrightException e) {
      return 0; // an answer to the page before, which was left by then; a whole page weighs more
    }
  }

  // Injected past the page's own policy, which forbids scripts from elsewhere.
  @SuppressWarnings("unchecked")
  private List<String> found(Page page) {
    var session = page.context().newCDPSession(page);
    var arguments = new com.google.gson.JsonObject();
    arguments.addProperty("expression", axe);
    session.send("Runtime.evaluate", arguments);
    session.detach();
    return (List<String>) page.evaluate(AXE);
  }

  private static Map<String, String> pages(LivelyTenant lively) {
    Map<String, String> pages = new LinkedHashMap<>();
    pages.put("overview", "/ui/overview");
    pages.put("jobs", "/ui/jobs");
    pages.put("job", "/ui/jobs/" + lively.running);
    pages.put("job-failed", "/ui/jobs/" + lively.failed);
    pages.put("queues", "/ui/queues");
    pages.put("resources", "/ui/resources");
    pages.put("resource", "/ui/resource?name=target:site-42");
    pages.put("schedules", "/ui/schedules");
    pages.put("schedule", "/ui/schedule?name=nightly-report");
    pages.put("workers", "/ui/workers");
    pages.put("notifications", "/ui/notifications");
    pages.put("tenants", "/ui/tenants");
    pages.put("tokens", "/ui/tokens");
    pages.put("settings", "/ui/settings");
    pages.put("audit", "/ui/audit");
    return pages;
  }

  private static void picture(Page page, String name, ColorScheme scheme) throws IOException {
    String directory = System.getProperty("holdfast.screenshots", "");
    if (!directory.isBlank()) {
      Files.createDirectories(Path.of(directory));
      page.screenshot(
          new Page.ScreenshotOptions()
              .setPath(
                  Path.of(
                      directory,
                      name + "-" + scheme.name().toLowerCase(java.util.Locale.ROOT) + ".png")));
    }
  }
}
