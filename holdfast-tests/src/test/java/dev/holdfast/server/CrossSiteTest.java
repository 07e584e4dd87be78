package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.Response;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.Cookie;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.job.NewJob;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Route;
import dev.holdfast.testkit.TestTenant;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A page of somebody else's, in a real browser in which somebody is signed in here. It stands on
 * this machine under another name (another site) and under the same name with another port (the
 * same site, for which browsers send cookies along).
 */
@Timeout(180)
@Execution(ExecutionMode.SAME_THREAD)
@SuppressWarnings("deprecation") // waitForNavigation: nothing else waits for what a form led to
class CrossSiteTest {

  private static HttpServer evil;
  private static Browsing browsing;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @BeforeAll
  static void listen() throws IOException {
    evil = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    evil.createContext(
        "/",
        exchange -> {
          byte[] page = "<!doctype html><title>evil</title><body></body>".getBytes(UTF_8);
          exchange.getResponseHeaders().add("Content-Type", "text/html");
          exchange.sendResponseHeaders(200, page.length);
          exchange.getResponseBody().write(page);
          exchange.close();
        });
    evil.start();
    browsing = new Browsing();
  }

  @AfterAll
  static void stop() {
    browsing.close();
    evil.stop(0);
  }

  private static List<String> evilPlaces() {
    int port = evil.getAddress().getPort();
    return List.of("http://localhost:" + port + "/", "http://127.0.0.1:" + port + "/");
  }

  private Page signedIn() {
    return browsing.as(TestServer.shared(), Role.ADMIN, tenant.name(), ColorScheme.LIGHT);
  }

  private static String base() {
    return Browsing.base(TestServer.shared());
  }

  @Test
  void a_form_of_another_site_does_nothing() {
    UUID job = tenant.jobs().enqueue(NewJob.of("a", 1)).id();
    Page page = signedIn();
    List<String> done = new ArrayList<>();
    for (String place : evilPlaces()) {
      for (Route route : TestServer.shared().server().routes()) {
        if (route.method() != Route.Method.POST) {
          continue;
        }
        page.navigate(place);
        String path =
            route
                .path()
                .replace("{tenant}", tenant.name().value())
                .replaceAll("\\{(\\w+_)?id}", job.toString())
                .replaceAll("\\{\\w+}", "default");
        Response answer =
            page.waitForNavigation(() ->
                page.evaluate(
                    """
                    ([action, job]) => {
                      const form = document.createElement('form');
                      form.method = 'POST';
                      form.action = action;
                      form.enctype = 'application/x-www-form-urlencoded';
                      for (const [name, value] of Object.entries({
                          id: job, job: job, name: 'default', paused: 'true', reason: 'x',
                          kind: 'stolen', config_path: 'x.yaml', role: 'admin'})) {
                        const input = document.createElement('input');
                        input.name = name;
                        input.value = value;
                        form.append(input);
                      }
                      document.body.append(form);
                      form.submit();
                    }
                    """,
                    List.of(base() + path, job.toString())));
        if (answer.status() < 400) {
          done.add(place + " " + route + " " + answer.status());
        }
      }
    }

    assertThat(done).isEmpty();
    assertThat(tenant.query("SELECT id FROM {schema}.job")).hasSize(1);
    assertThat(tenant.queues().get("default").paused()).isFalse();
    assertThat(tenant.query("SELECT 1 FROM {schema}.audit")).isEmpty();
  }

  @Test
  void a_script_of_another_site_neither_acts_nor_reads() {
    Page page = signedIn();
    for (String place : evilPlaces()) {
      for (String path :
          List.of(
              "/api/v1/jobs",
              "/ui/jobs",
              "/ui/do/queue",
              "/run-simulation",
              "/api/agent/next-job",
              "/healthz",
              "/metrics")) {
        for (String options :
            List.of(
                "{credentials: 'include'}",
                "{credentials: 'include', method: 'POST', body: '{\"kind\": \"stolen\"}'}",
                "{credentials: 'include', method: 'POST', body: '{\"kind\": \"stolen\"}',"
                    + " headers: {'Content-Type': 'application/json'}}",
                "{credentials: 'include', method: 'POST', body: new URLSearchParams({name:"
                    + " 'default', paused: 'true'})}")) {
          page.navigate(place);
          Object read =
              page.evaluate(
                  "url => fetch(url, "
                      + options
                      + ").then(answer => answer.text()).then(text => 'read: ' + text, () => '')",
                  base() + path);
          assertThat(read).as("%s from %s %s", path, place, options).isEqualTo("");
        }
        // One that is not to be read may act all the same.
        page.evaluate(
            "url => fetch(url, {mode: 'no-cors', credentials: 'include', method: 'POST', body:"
                + " '{\"kind\": \"stolen\"}'}).then(() => '', () => '')",
            base() + path);
      }
    }

    assertThat(tenant.query("SELECT id FROM {schema}.job")).isEmpty();
    assertThat(tenant.queues().get("default").paused()).isFalse();
  }

  @Test
  void no_page_is_shown_in_a_frame_of_another_site() {
    Page page = signedIn();
    for (String place : evilPlaces()) {
      page.navigate(place);
      page.evaluate(
          """
          url => new Promise(shown => {
            const frame = document.createElement('iframe');
            frame.onload = shown;
            frame.src = url;
            document.body.append(frame);
          })
          """,
          base() + "/ui/overview");

      assertThat(page.frames().get(1).url()).doesNotStartWith(base());
    }
  }

  @Test
  void every_page_says_what_may_run_and_that_nobody_may_frame_it() {
    LivelyTenant lively = LivelyTenant.in(TestServer.shared(), tenant.name());
    Page page = signedIn();
    List<String> paths =
        new ArrayList<>(
            TestServer.shared().server().routes().stream()
                .filter(route -> route.isPage() && route.method() == Route.Method.GET)
                .filter(route -> !route.waits())
                .map(route -> route.path().replace("{id}", lively.failed.toString()))
                .filter(path -> !path.contains("{"))
                .filter(path -> !path.endsWith(".json") && !path.contains("."))
                .toList());
    paths.addAll(List.of("/ui/nothing", "/ui/jobs?state=nonsense", "/ui/resource?name=none"));
    assertThat(paths).hasSizeGreaterThan(15);
    for (String path : paths) {
      Response answer = page.navigate(base() + path);
      Map<String, String> headers = answer.headers();
      assertThat(headers.get("content-security-policy"))
          .as(path)
          .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
          .contains("base-uri 'none'", "form-action 'self'")
          .doesNotContain("unsafe", "*");
      assertThat(headers.get("x-frame-options")).as(path).isEqualTo("DENY");
      assertThat(headers.get("x-content-type-options")).as(path).isEqualTo("nosniff");
      assertThat(headers.get("referrer-policy")).as(path).isEqualTo("same-origin");
      assertThat(headers.get("cache-control")).as(path).contains("no-store");
      assertThat(headers).as(path).doesNotContainKey("access-control-allow-origin");
    }
  }

  @Test
  void no_token_is_left_in_an_address_and_no_script_reads_a_cookie() {
    String token = TestServer.shared().token(Role.VIEWER, Optional.of(tenant.name()));
    Page page = browsing.page(ColorScheme.LIGHT);
    page.navigate(base() + "/ui?token=" + token);
    page.waitForURL("**/ui/overview");

    assertThat(page.evaluate("document.cookie")).isEqualTo("");
    assertThat(page.evaluate("JSON.stringify(localStorage) + JSON.stringify(sessionStorage)"))
        .asString()
        .doesNotContain(token);
    assertThat(page.content() + page.url()).doesNotContain(token);
    assertThat(page.evaluate("JSON.stringify(performance.getEntries()) + document.referrer"))
        .asString()
        .doesNotContain(token);
    Cookie session =
        page.context().cookies().stream()
            .filter(cookie -> cookie.name.equals("holdfast_session"))
            .findFirst()
            .orElseThrow();
    assertThat(session.httpOnly).isTrue();
    assertThat(session.path).isEqualTo("/ui");
    assertThat(String.valueOf(session.sameSite)).isEqualToIgnoringCase("strict");
    assertThat(session.value).isNotEqualTo(token);
  }

  // Whoever is signed in as somebody else without knowing tells them what they enter.
  @Test
  void a_link_of_another_site_signs_nobody_in() {
    String theirs = TestServer.shared().token(Role.ADMIN, Optional.of(tenant.name()));
    for (String place : evilPlaces()) {
      Page page = browsing.page(ColorScheme.LIGHT);
      page.navigate(place);
      page.waitForNavigation(
          () -> page.evaluate("url => { location.href = url; }", base() + "/ui?token=" + theirs));

      assertThat(page.context().cookies())
          .extracting(cookie -> cookie.name)
          .doesNotContain("holdfast_session");
    }
  }
}
