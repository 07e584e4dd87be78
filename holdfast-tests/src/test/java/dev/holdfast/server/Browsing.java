package dev.holdfast.server;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.ColorScheme;
import dev.holdfast.server.auth.Role;
import dev.holdfast.tenant.TenantName;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A real browser, the machine's own Chromium. Not thread-safe: each class of tests has its own, and
 * runs its tests one after the other.
 */
final class Browsing implements AutoCloseable {

  /** Names the browser where it is not on the path. */
  private static final String PROPERTY = "holdfast.test.chromium";

  private static final List<String> NAMES =
      List.of("chromium", "chromium-browser", "google-chrome", "chrome");

  private final Playwright playwright =
      Playwright.create(
          new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
  private final Browser browser =
      playwright
          .chromium()
          .launch(
              new BrowserType.LaunchOptions()
                  .setExecutablePath(chromium())
                  .setArgs(List.of("--disable-gpu", "--disable-dev-shm-usage")));
  private final List<String> complaints = new ArrayList<>();

  // Not there is a failure, not a reason to look away.
  private static Path chromium() {
    return Optional.ofNullable(System.getProperty(PROPERTY))
        .map(Path::of)
        .or(() ->
            Arrays.stream(System.getenv("PATH").split(File.pathSeparator, -1))
                .flatMap(directory -> NAMES.stream().map(name -> Path.of(directory, name)))
                .filter(Files::isExecutable)
                .findFirst())
        .orElseThrow(() ->
            new AssertionError(
                "These tests need a browser: install Debian's package chromium, or say where one is"
                    + " with -D"
                    + PROPERTY));
  }

  /** What the browser found wrong with pages: errors of scripts, and breaches of the policy. */
  List<String> complaints() {
    return complaints;
  }

  Page page(ColorScheme scheme) {
    BrowserContext context =
        browser.newContext(
            new Browser.NewContextOptions().setColorScheme(scheme).setViewportSize(1360, 900));
    Page page = context.newPage();
    page.setDefaultTimeout(10_000);
    page.onPageError(error -> complaints.add("script: " + error));
    page.onDialog(dialog -> {
      complaints.add("dialog: " + dialog.message());
      dialog.dismiss();
    });
    page.onConsoleMessage(message -> {
      // A page that is not for everybody says so with its status, which the console repeats.
      if (message.type().equals("error") && !message.text().contains("Failed to load resource")) {
        complaints.add("console: " + message.text());
      }
    });
    return page;
  }

  /** Somebody who has signed in with a token of that role. */
  Page as(TestServer server, Role role, TenantName tenant, ColorScheme scheme) {
    Page page = page(scheme);
    page.navigate(base(server) + "/ui/login");
    page.fill("#token", server.token(role, Optional.of(tenant)));
    page.click("button.primary");
    page.waitForURL("**/ui/overview");
    if (role == Role.SYSTEM) {
      page.selectOption("#tenant", tenant.value());
      page.waitForURL("**/ui/overview");
      page.waitForFunction(
          "name => document.querySelector('#tenant')?.value === name", tenant.value());
    }
    return page;
  }

  static String base(TestServer server) {
    return "http://127.0.0.1:" + server.port();
  }

  static Stream<ColorScheme> schemes() {
    return Stream.of(ColorScheme.LIGHT, ColorScheme.DARK);
  }

  @Override
  public void close() {
    browser.close();
    playwright.close();
  }
}
