package dev.holdfast.server;

import dev.holdfast.server.auth.Role;
import dev.holdfast.tenant.TenantName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;

/** A tenant with jobs in every state, holds, blocks, slots, logs and progress, to look at. */
final class LivelyTenant {

  private final Caller admin;

  String running = "";
  String stopping = "";
  String dispatched = "";
  String failed = "";
  String standing = "";
  String paused = "";
  String parked = "";
  String queued = "";
  String pending = "";
  String succeeded = "";
  String cancelled = "";

  private LivelyTenant(Caller admin) {
    this.admin = admin;
  }

  static LivelyTenant in(TestServer server, TenantName tenant) {
    LivelyTenant lively = new LivelyTenant(server.as(Role.ADMIN, tenant));
    lively.fill();
    return lively;
  }

  private void fill() {
    mails();
    transcoding();
    deployments();
    others();
    schedules();
    admin.put("/api/v1/queues/reports", "{\"paused\": true, \"concurrency_limit\": 4}");
    admin.put(
        "/api/v1/webhooks/on-call",
        "{\"url\": \"https://example.org/hook\", \"events\": [\"job_failed\", \"old_block\"],"
            + " \"secret\": \"s3cret\"}");
  }

  private void mails() {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      ids.add(enqueue("mail.send", "mail", "\"args\": {\"to\": \"customer-%d\"}".formatted(i)));
    }
    List<JsonNode> leases = claim("mailer-1", "mail", 20, "");
    succeeded = leases.getFirst().path("job").path("id").asString();
    for (int i = 0; i < 16; i++) {
      finish(
          "mailer-1",
          leases.get(i),
          "\"outcome\": \"succeeded\", \"result\": {\"message_id\": \"m-%d\", \"seconds\": 0.4}"
              .formatted(i));
    }
    failed = leases.get(16).path("job").path("id").asString();
    finish(
        "mailer-1",
        leases.get(16),
        "\"outcome\": \"failed\", \"retryable\": false, \"error_code\": \"ADDRESS_REFUSED\","
            + " \"error_message\": \"550 no such mailbox: customer-16@example.org\"");
    finish(
        "mailer-1",
        leases.get(17),
        "\"outcome\": \"failed\", \"retryable\": false, \"error_code\": \"ADDRESS_REFUSED\","
            + " \"error_message\": \"550 no such mailbox: customer-17@example.org\"");
    finish(
        "mailer-1",
        leases.get(18),
        "\"outcome\": \"failed\", \"error_code\": \"SMTP_TIMEOUT\", \"error_message\": \"no answer"
            + " from mx1.example.org within 10 s\"");
    queued = ids.get(23);
  }

  private void transcoding() {
    running =
        enqueue(
            "video.transcode",
            "media",
            "\"resources\": [\"gpu:1\"], \"tags\": [\"premium\", \"4k\"], \"max_attempts\": 5,"
                + " \"args\": {\"source\": \"s3://raw/launch.mov\", \"presets\": [\"1080p\","
                + " \"720p\"], \"codec\": {\"name\": \"av1\", \"crf\": 28}}");
    JsonNode first = claim("encoder-2", "media", 1, "").getFirst();
    log(first, List.of("probing s3://raw/launch.mov", "found 14,312 frames at 59.94 fps"));
    finish("encoder-2", first, "\"outcome\": \"released\"");
    JsonNode lease = claim("encoder-1", "media", 1, "").getFirst();
    log(lease, IntStream.range(0, 30).mapToObj(i -> "encoded segment %03d".formatted(i)).toList());
    admin.post(
        "/api/v1/jobs/" + running + "/progress",
        "{\"fence\": %d, \"percent\": 42.5, \"progress_count\": 6083, \"message\": \"pass 1 of 2\","
                .formatted(lease.path("fence").asLong())
            + " \"cursor\": \"segment-030\"}");
    enqueue("video.transcode", "media", "\"resources\": [\"gpu:1\"]");
    claim("encoder-1", "media", 1, ""); // parks it on what the other has
    stopping = enqueue("video.thumbnail", "media", "\"on_stop\": \"pause\"");
    claim("encoder-1", "media", 1, "");
    admin.post("/api/v1/jobs/" + stopping + "/stop", "{\"reason\": \"wrong preset\"}");
  }

  private void deployments() {
    standing =
        enqueue(
            "site.deploy",
            "deploys",
            "\"target\": \"site-42\", \"on_failure\": \"hold\", \"max_attempts\": 1,"
                + " \"args\": {\"revision\": \"9f3c2d1\"}");
    finish(
        "deployer",
        claim("deployer", "deploys", 1, "").getFirst(),
        "\"outcome\": \"failed\", \"retryable\": false, \"error_code\": \"HEALTH_CHECK\","
            + " \"error_message\": \"GET /healthz answered 502 for 60 s after the switch\"");
    parked = enqueue("site.deploy", "deploys", "\"target\": \"site-42\"");
    enqueue("site.deploy", "deploys", "\"target\": \"site-42\"");
    claim("deployer", "deploys", 5, "");
    paused = enqueue("site.backup", "deploys", "\"target\": \"site-7\"");
    admin.post("/api/v1/jobs/" + paused + "/pause", "{\"reason\": \"maintenance window\"}");
    dispatched = enqueue("site.import", "deploys", "");
    claim("deployer", "deploys", 1, ", \"acknowledge\": true");
  }

  private void others() {
    pending = enqueue("report.monthly", "reports", "\"pending\": true");
    enqueue("report.daily", "reports", "\"delay_seconds\": 7200");
    cancelled = enqueue("report.daily", "reports", "");
    admin.post("/api/v1/jobs/" + cancelled + "/cancel", "{\"reason\": \"asked for twice\"}");
  }

  private void schedules() {
    admin.put(
        "/api/v1/schedules/nightly-report",
        "{\"cron\": \"0 3 * * *\", \"timezone\": \"Europe/Berlin\", \"kind\": \"report.nightly\"}");
    admin.put(
        "/api/v1/schedules/heartbeat",
        "{\"every_seconds\": 60, \"kind\": \"probe\", \"enabled\": false}");
    admin.post("/api/v1/schedules/nightly-report/trigger", "{\"reason\": \"first run\"}");
  }

  private String enqueue(String kind, String queue, String more) {
    return admin
        .post(
            "/api/v1/jobs",
            "{\"kind\": \"%s\", \"queue\": \"%s\"%s}"
                .formatted(kind, queue, more.isEmpty() ? "" : ", " + more))
        .json()
        .path("id")
        .asString();
  }

  private List<JsonNode> claim(String worker, String queue, int limit, String more) {
    List<JsonNode> leases = new ArrayList<>();
    admin
        .post(
            "/api/v1/leases",
            "{\"worker\": \"%s\", \"queues\": [\"%s\"], \"limit\": %d, \"lease_seconds\": 3600%s}"
                .formatted(worker, queue, limit, more))
        .json()
        .path("leases")
        .forEach(leases::add);
    return leases;
  }

  private void finish(String worker, JsonNode lease, String outcome) {
    admin.send(
        "POST",
        "/api/v1/leases/finish",
        Optional.of(
            "{\"worker\": \"%s\", \"results\": [{\"job_id\": \"%s\", \"fence\": %d, %s}]}"
                .formatted(
                    worker,
                    lease.path("job").path("id").asString(),
                    lease.path("fence").asLong(),
                    outcome)));
  }

  private void log(JsonNode lease, List<String> lines) {
    String all = String.join("\", \"", lines);
    admin.post(
        "/api/v1/jobs/" + lease.path("job").path("id").asString() + "/logs",
        "{\"fence\": %d, \"lines\": [\"%s\"]}".formatted(lease.path("fence").asLong(), all));
  }
}
