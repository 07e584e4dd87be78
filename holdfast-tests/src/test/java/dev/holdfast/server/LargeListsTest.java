package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Json;
import dev.holdfast.audit.Act;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Lists of rows that are as large as rows may be: the server has never many of them in memory. */
class LargeListsTest {

  private static final int ARGS = 250_000;
  private static final int MOST_OF_A_PAGE = 10_000_000;
  private static final Payload LARGE = new Payload("{\"text\": \"" + "a".repeat(ARGS) + "\"}");

  // More than the network keeps on its way from the server to somebody who does not read.
  private static final int MANY = 240;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void a_page_of_large_jobs_ends_early_and_says_where_it_goes_on() {
    List<UUID> ids = enqueue(60);
    List<String> found = new ArrayList<>();
    int pages = 0;
    String after = "";
    do {
      Reply page = admin().get("/api/v1/jobs?limit=1000" + after);
      assertThat(page.text()).hasSizeLessThan(MOST_OF_A_PAGE);
      page.json().path("jobs").forEach(job -> found.add(job.path("id").asString()));
      after = next(page);
      pages++;
    } while (!after.isEmpty());

    assertThat(pages).isEqualTo(2);
    assertThat(found)
        .containsExactlyElementsOf(
            ids.stream().map(UUID::toString).sorted(Comparator.reverseOrder()).toList());
  }

  @Test
  void so_does_a_page_of_large_schedules() {
    for (int i = 0; i < 60; i++) {
      tenant
          .schedules()
          .put(
              Schedule.of("s%02d".formatted(i), Trigger.cron("0 0 1 1 *"), NewJob.of("a", LARGE)),
              Act.by("ada"));
    }

    Reply first = admin().get("/api/v1/schedules?limit=1000");
    Reply second = admin().get("/api/v1/schedules?limit=1000" + next(first));

    assertThat(first.text()).hasSizeLessThan(MOST_OF_A_PAGE);
    assertThat(first.json().path("schedules").size() + second.json().path("schedules").size())
        .isEqualTo(60);
    assertThat(next(second)).isEmpty();
  }

  @Test
  void attempts_come_a_thousand_at_a_time_and_a_client_gets_all_of_them() {
    UUID id = tenant.jobs().enqueue(NewJob.of("a", 1)).id();
    tenant.execute(
        """
        INSERT INTO {schema}.attempt (job_id, fence, number, started_at, finished_at, worker, outcome,
                                      error_code, error_message)
        SELECT '%s', n, 1, now(), now(), 'w', 'failed', 'E', repeat('e', 10000)
          FROM generate_series(1, 1500) AS n
        """
            .formatted(id));

    Reply first = admin().get("/api/v1/jobs/" + id + "/attempts");

    assertThat(first.text()).hasSizeLessThan(MOST_OF_A_PAGE);
    assertThat(first.json().path("after").asLong()).isPositive();
    assertThat(TestServer.shared().client(Role.VIEWER, tenant.name()).attempts(id))
        .hasSize(1_500)
        .extracting(attempt -> attempt.fence())
        .isSorted();
  }

  @Test
  void jobs_of_targets_are_sent_while_they_are_read() throws Exception {
    String target = UUID.randomUUID().toString();
    List<UUID> ids = enqueue(MANY, target);

    JsonNode list =
        afterLosing(ids.getFirst(), "GET", "/targets/" + target + "/jobs/?limit=1000", "");
    JsonNode all = Json.parse("all", admin().get("/jobs/?queue=default&limit=1000").text());

    assertThat(ids(list))
        .containsExactlyElementsOf(
            ids.reversed().stream().limit(MANY - 1).map(UUID::toString).toList());
    assertThat(all.path("total_count").asInt()).isEqualTo(MANY - 1);
    assertThat(all.path("jobs")).hasSize(MANY - 1);
  }

  @Test
  void a_batch_that_is_there_already_is_told_while_it_is_read() throws Exception {
    List<UUID> ids = enqueue(MANY);
    List<String> again = ids.stream().map("{\"id\": \"%s\", \"kind\": \"a\"}"::formatted).toList();

    JsonNode answer =
        afterLosing(
            ids.getLast(),
            "POST",
            "/api/v1/jobs/batch",
            "{\"jobs\": [" + String.join(",", again) + "]}");

    assertThat(ids(answer.path("jobs")))
        .containsExactlyElementsOf(ids.stream().limit(MANY - 1).map(UUID::toString).toList());
    assertThat(answer.path("jobs")).noneMatch(job -> job.path("created").asBoolean());
  }

  @Test
  void a_batch_answers_in_its_order_and_as_often_as_one_was_named() {
    UUID old = tenant.jobs().enqueue(NewJob.of("a", 1)).id();
    UUID made = UUID.randomUUID();

    Reply answer =
        admin()
            .post(
                "/api/v1/jobs/batch",
                """
                {"jobs": [{"id": "%1$s", "kind": "a"}, {"id": "%2$s", "kind": "a"},
                          {"id": "%1$s", "kind": "a"}]}
                """
                    .formatted(made, old));

    assertThat(answer.status()).isEqualTo(201);
    assertThat(answer.contentType()).startsWith("application/json");
    assertThat(ids(answer.json().path("jobs")))
        .containsExactly(made.toString(), old.toString(), made.toString());
    assertThat(answer.json().at("/jobs/0/created").asBoolean()).isTrue();
    assertThat(answer.json().at("/jobs/1/created").asBoolean()).isFalse();
  }

  /** Asks, reads a little, lets a job be gone that comes last in the list, and reads the rest. */
  private JsonNode afterLosing(UUID last, String method, String path, String body)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + TestServer.shared().port() + path))
            .header(
                "Authorization",
                "Bearer " + TestServer.shared().token(Role.ADMIN, Optional.of(tenant.name())))
            .header("Content-Type", "application/json")
            .method(method, BodyPublishers.ofString(body))
            .build();
    try (HttpClient http = HttpClient.newHttpClient();
        InputStream answer = http.send(request, BodyHandlers.ofInputStream()).body()) {
      byte[] beginning = answer.readNBytes(1_000);
      tenant.execute("DELETE FROM {schema}.job WHERE id = '%s'".formatted(last));
      return Json.parse(
          "answer", new String(beginning, UTF_8) + new String(answer.readAllBytes(), UTF_8));
    }
  }

  private static List<String> ids(JsonNode jobs) {
    List<String> ids = new ArrayList<>();
    jobs.forEach(job -> ids.add(job.path("id").asString()));
    return ids;
  }

  private static String next(Reply page) {
    JsonNode after = page.json().path("after");
    return after.isNull() ? "" : "&after=" + after.asString();
  }

  private Caller admin() {
    return TestServer.shared().as(Role.ADMIN, tenant.name());
  }

  private List<UUID> enqueue(int count) {
    return enqueue(IntStream.range(0, count).mapToObj(i -> NewJob.of("a", LARGE)).toList());
  }

  private List<UUID> enqueue(int count, String target) {
    return enqueue(
        IntStream.range(0, count).mapToObj(i -> NewJob.of("a", LARGE).withTarget(target)).toList());
  }

  private List<UUID> enqueue(List<NewJob> jobs) {
    return tenant.jobs().enqueueAll(jobs).stream().map(enqueued -> enqueued.id()).toList();
  }
}
