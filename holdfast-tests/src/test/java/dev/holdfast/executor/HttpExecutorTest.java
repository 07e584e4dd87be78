package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.worker.Worker;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a call sends, and what becomes of its job by the answer. */
class HttpExecutorTest extends HttpRig {

  @Test
  void a_call_that_is_answered_well_has_the_answer_as_result() {
    Job job =
        run(
            HERE,
            call(
                Map.of(
                    "method",
                    "post",
                    "url",
                    url("/echo?a=b"),
                    "headers",
                    Map.of("X-Mine", "1"),
                    "body",
                    "größer")));

    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(result(job).get("status")).isEqualTo(200);
    assertThat(text(job, "headers")).contains("content-type=text/plain");
    assertThat(text(job, "body")).isEqualTo("POST /echo?a=b 1 größer " + job.id() + " null");
    assertThat(result(job).get("body_cut")).isEqualTo(false);
  }

  @Test
  void what_may_pass_is_tried_again_and_the_rest_fails_for_good() {
    assertThat(List.of(500, 503, 429, 408))
        .allSatisfy(status -> {
          Job job = run(HERE, get("/status/" + status));
          assertThat(job.state()).isEqualTo(JobState.QUEUED);
          assertThat(job.errorCode()).contains("HTTP_" + status);
          assertThat(job.errorMessage().orElse("")).endsWith("answered " + status + ": because");
        });
    assertThat(List.of(400, 404, 304))
        .allSatisfy(status -> {
          Job job = run(HERE, get("/status/" + status));
          assertThat(job.state()).isEqualTo(JobState.FAILED);
          assertThat(job.errorCode()).contains("HTTP_" + status);
        });
  }

  @Test
  void redirects_are_followed_within_the_site_and_not_for_ever() {
    Job within = run(HERE, call(Map.of("method", "POST", "url", url("/to/echo"), "body", "x")));
    Job kept = run(HERE, call(Map.of("method", "POST", "url", url("/to/echo?307"), "body", "x")));
    Job abroad = run(HERE, get("/to/localhost"));
    Job around = run(HERE, get("/to/to/itself"));

    assertThat(text(within, "body")).startsWith("GET /echo null  ");
    assertThat(text(kept, "body")).startsWith("POST /echo null x ");
    assertThat(abroad.errorCode()).contains("REDIRECT_REFUSED");
    assertThat(abroad.state()).isEqualTo(JobState.FAILED);
    assertThat(around.errorCode()).contains("TOO_MANY_REDIRECTS");
  }

  @Test
  void of_a_long_answer_the_beginning_is_kept() {
    Job job = run(HERE, get("/long"));

    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(result(job).get("body_cut")).isEqualTo(true);
    assertThat(text(job, "body")).hasSizeGreaterThan(10_000).startsWith("\u0001é");
  }

  @Test
  void an_answer_that_does_not_come_in_time_is_waited_for_no_longer() {
    Job job = run(HERE, call(Map.of("url", url("/never"), "timeout_seconds", 0.3)));

    assertThat(job.state()).isEqualTo(JobState.QUEUED);
    assertThat(job.errorCode()).contains("HTTP_TIMEOUT");
  }

  @Test
  void nobody_there_is_tried_again() {
    server.stop(0);

    Job job = run(HERE, get("/echo"));

    assertThat(job.state()).isEqualTo(JobState.QUEUED);
    assertThat(job.errorCode()).contains("HTTP_UNREACHABLE");
  }

  @Test
  void whoever_stops_a_job_ends_its_call() throws Exception {
    UUID id = enqueue(get("/never"));
    try (JobExecutors executors = JobExecutors.open(Set.of("http"), HERE);
        Worker worker = executors.installOn(tenant.worker()).start()) {
      called.await();
      tenant.acts().stop(id, ADA);
      Processes.await(() -> tenant.job(id).state().isFinished());
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void secrets_are_sent_where_they_are_mentioned_and_told_nowhere() {
    Job job =
        run(
            HERE,
            call(
                Map.of(
                    "method", "PUT",
                    "url", url("/echo"),
                    "headers", Map.of("X-Mine", "Bearer ${API_KEY}"),
                    "body", "${API_KEY} ${OTHER}",
                    "secrets", List.of("API_KEY"))));

    assertThat(text(job, "body"))
        .startsWith("PUT /echo Bearer *** *** ${OTHER} ")
        .endsWith(" 18"); // how long the header was that arrived
  }

  @Test
  void wrong_arguments_fail_for_good_and_are_told_by_name() {
    assertRefused(Map.of(), "url");
    assertRefused(Map.of("url", "ftp://127.0.0.1/"), "url");
    assertRefused(Map.of("url", "http://me:secret@127.0.0.1/"), "url");
    assertRefused(Map.of("url", "http:///x"), "url");
    assertRefused(Map.of("url", "http://127.0.0.1:99999/"), "url");
    assertRefused(Map.of("url", url("/echo"), "method", "STEAL"), "method");
    assertRefused(Map.of("url", url("/echo"), "headers", Map.of("Host", "x")), "headers");
    assertRefused(Map.of("url", url("/echo"), "headers", Map.of("X", "a\r\nB: c")), "headers");
    assertRefused(Map.of("url", url("/echo"), "timeout_seconds", 0), "timeout_seconds");
    assertRefused(Map.of("url", url("/echo"), "secrets", List.of("NONE")), "secrets");
    assertRefused(Map.of("url", url("/echo"), "uri", "x"), "uri");
  }
}
