package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import dev.holdfast.api.Json;
import dev.holdfast.audit.Act;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Progress;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whatever a name, a message or a log line says, a page shows it as text and does not obey it. */
class HostilePagesTest {

  private static final List<String> SEEDS =
      List.of(
          "<script>alert(1)</script>",
          "<img src=x onerror=alert(1)>",
          "\"><svg onload=alert(1)>",
          "' onmouseover='alert(1)",
          "javascript:alert(1)",
          "</title><script>alert(1)</script>",
          "</textarea><script>alert(1)</script>",
          "{{constructor.constructor('alert(1)')()}}",
          "${alert(1)}",
          "<!--<script>-->alert(1)",
          "<iframe srcdoc='<script>alert(1)</script>'>",
          "<a href=\"javascript:alert(1)\">x</a>",
          "<style>*{display:none}</style>",
          "<base href=//evil.example>",
          "<meta http-equiv=refresh content=0;url=//evil.example>",
          "<form action=//evil.example><button>",
          "<math><mtext></mtext><script>alert(1)</script>",
          "\u202Egnp.exe",
          "a\u200Bb\u2028c\u2029d",
          "%3Cscript%3Ealert(1)%3C/script%3E",
          "&lt;script&gt;alert(1)&lt;/script&gt;",
          "&#x3C;script&#x3E;",
          "../../etc/passwd",
          "?a=b&c=d#e",
          "'; DROP TABLE job; --");

  private static final Kind<String> PLACEHOLDER = Kind.of("placeholder", String.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  /** Each seed in eight disguises. */
  static List<String> strings() {
    List<String> strings = new ArrayList<>();
    for (String seed : SEEDS) {
      strings.add(seed);
      strings.add(seed.toUpperCase(java.util.Locale.ROOT));
      strings.add("x\"" + seed);
      strings.add("x'" + seed);
      strings.add("x>" + seed);
      strings.add("x`" + seed + "`");
      strings.add("x-->" + seed);
      strings.add("x&" + seed + ";");
    }
    return strings;
  }

  @Timeout(value = 30, unit = TimeUnit.MINUTES)
  @Test
  void two_hundred_hostile_strings_are_text_wherever_they_stand() {
    List<String> strings = strings();
    assertThat(strings).hasSizeGreaterThanOrEqualTo(200).doesNotHaveDuplicates();
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());
    List<UUID> ids = new ArrayList<>();
    for (String hostile : strings) {
      ids.add(job(hostile));
    }
    for (String hostile : strings.subList(0, SEEDS.size())) {
      schedule(hostile);
      tenant
          .queues()
          .change("q" + hostile, before -> before.withPaused(true), Act.by("x" + hostile));
      tenant.resources().setCapacity("r" + hostile, 2, Act.by(hostile).because(hostile));
      assertThat(admin.post("/api/v1/tokens", token(hostile)).status()).isLessThan(300);
    }
    List<String> wrong = new ArrayList<>();
    try (Browsing browsing = new Browsing()) {
      Page page = browsing.as(TestServer.shared(), Role.ADMIN, tenant.name(), ColorScheme.LIGHT);
      List<String> seen = new ArrayList<>();
      for (int i = 0; i < ids.size(); i++) {
        String shown = text(page, "/ui/jobs/" + ids.get(i), wrong);
        if (!shown.contains(strings.get(i))) {
          wrong.add("not shown on its own page: " + strings.get(i));
        }
      }
      assertThat(typeOfLog(page, ids.getFirst())).isNotEmpty().doesNotContain("html");
      String next = "/ui/jobs";
      while (!next.isEmpty()) {
        seen.add(text(page, next, wrong));
        next =
            page.locator("a[rel=next]").count() == 0
                ? ""
                : page.getAttribute("a[rel=next]", "href");
      }
      for (String path :
          List.of(
              "/ui/overview",
              "/ui/queues",
              "/ui/resources",
              "/ui/schedules",
              "/ui/audit",
              "/ui/workers",
              "/ui/notifications",
              "/ui/settings")) {
        seen.add(text(page, path, wrong));
      }
      assertThat(text(page, "/ui/tokens", wrong)).contains(strings.subList(0, SEEDS.size()));
      Page system = browsing.as(TestServer.shared(), Role.SYSTEM, tenant.name(), ColorScheme.LIGHT);
      assertThat(text(system, "/ui/tenants", wrong)).contains(tenant.name().value());
      for (String hostile : strings.subList(0, SEEDS.size())) {
        String encoded = URLEncoder.encode(hostile, StandardCharsets.UTF_8);
        text(page, "/ui/resource?name=r" + encoded, wrong);
        text(page, "/ui/schedule?name=" + encoded, wrong);
        text(page, "/ui/jobs?error=" + encoded, wrong);
        text(page, "/ui/find?q=" + encoded, wrong);
      }
      String all = String.join("\n", seen);
      for (String hostile : strings) {
        if (!all.contains(hostile)) {
          wrong.add("not shown as it is: " + hostile);
        }
      }
      wrong.addAll(browsing.complaints());
    }
    assertThat(wrong).isEmpty();
  }

  private static String text(Page page, String path, List<String> wrong) {
    page.navigate(Browsing.base(TestServer.shared()) + path);
    if (!page.url().startsWith(Browsing.base(TestServer.shared()) + "/ui/")) {
      wrong.add(path + " led to " + page.url());
    }
    Object strange =
        page.evaluate(
            """
            () => [...document.querySelectorAll(
                'main script, main iframe, main style, main base, main meta, main img, main math')]
              .map(each => each.outerHTML)
              .concat([...document.querySelectorAll('main *')]
                .filter(each => [...each.attributes].some(a => a.name.startsWith('on')))
                .map(each => each.outerHTML))
            """);
    if (!((List<?>) strange).isEmpty()) {
      wrong.add(path + " has " + strange);
    }
    return page.textContent("main");
  }

  /** What a browser takes the stream of a job's lines for. */
  private static String typeOfLog(Page page, UUID id) {
    return (String)
        page.evaluate(
            """
            async url => {
              const answer = await fetch(url);
              await answer.body.cancel();
              return answer.status + ' ' + answer.headers.get('content-type');
            }
            """,
            "/ui/jobs/%s/log".formatted(id));
  }

  private static String token(String hostile) {
    return Json.write(Json.object().put("name", hostile).put("role", "viewer"));
  }

  private UUID job(String hostile) {
    UUID id =
        tenant
            .jobs()
            .enqueue(
                Kind.of(hostile, Object.class)
                    .job(Map.of(hostile, hostile))
                    .withTags(hostile)
                    .withTarget(hostile)
                    .withQueue("hostile"))
            .id();
    Worker worker =
        tenant
            .worker()
            .configure(config -> config.withQueues("hostile").withName("w" + hostile))
            .handleWithOutcome(
                Kind.of(hostile, Object.class),
                (args, job) -> {
                  job.log(hostile);
                  job.progress(Progress.NONE.withMessage(hostile).withCursor(hostile));
                  return Outcome.failed(Failure.permanent(hostile, hostile));
                })
            .build();
    assertThat(worker.runDue()).isOne();
    return id;
  }

  private void schedule(String hostile) {
    String name = hostile.length() > 100 ? hostile.substring(0, 100) : hostile;
    tenant
        .schedules()
        .put(
            Schedule.of(name, Trigger.every(Duration.ofHours(1)), PLACEHOLDER.job(hostile)),
            Act.by("x"));
  }
}
