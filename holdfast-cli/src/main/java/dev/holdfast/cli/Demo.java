package dev.holdfast.cli;

import dev.holdfast.api.Because;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.api.Json;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Progress;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.random.RandomGenerator;
import tools.jackson.databind.node.ObjectNode;

/**
 * A workload to look at: the jobs of a small company, enqueued and run over HTTP like all others.
 * Everything shown really happened: workers sleep where real ones would work, and fail where real
 * ones would.
 */
final class Demo implements AutoCloseable {

  /** What a job is about, and how long it takes. */
  record Task(String about, int seconds) {}

  private static final Kind<Task> MAIL = Kind.of("mail.send", Task.class);
  private static final Kind<Task> VIDEO = Kind.of("video.transcode", Task.class);
  private static final Kind<Task> DEPLOY = Kind.of("site.deploy", Task.class);
  private static final Kind<Task> REPORT = Kind.of("report.daily", Task.class);
  private static final Kind<Task> PROBE = Kind.of("probe", Task.class);

  private final HoldfastClient client;
  private final RandomGenerator dice = RandomGenerator.getDefault();
  private final List<Worker> workers;
  private int round;

  private Demo(HoldfastClient client, List<Worker> workers) {
    this.client = client;
    this.workers = workers;
  }

  /** Creates its queues and schedules, and starts its workers. */
  static Demo start(HoldfastClient client) {
    ask(client, "PUT", "/queues/media", "{\"concurrency_limit\": 3}");
    ask(client, "PUT", "/queues/reports", "{\"paused\": true}");
    ask(
        client,
        "PUT",
        "/schedules/probe-sites",
        "{\"every_seconds\": 15, \"kind\": \"probe\", \"queue\": \"probes\","
            + " \"args\": {\"about\": \"all sites\", \"seconds\": 1}}");
    ask(
        client,
        "PUT",
        "/schedules/nightly-report",
        "{\"cron\": \"0 3 * * *\", \"timezone\": \"Europe/Berlin\", \"kind\": \"report.daily\","
            + " \"queue\": \"reports\", \"args\": {\"about\": \"yesterday\", \"seconds\": 20}}");
    return new Demo(
        client,
        List.of(
            worker(client, "mailer-1", 8, "mail").handleWithOutcome(MAIL, Demo::mail).start(),
            worker(client, "mailer-2", 8, "mail").handleWithOutcome(MAIL, Demo::mail).start(),
            worker(client, "encoder-1", 4, "media").handleWithOutcome(VIDEO, Demo::encode).start(),
            worker(client, "deployer-1", 4, "deploys", "probes", "reports")
                .handleWithOutcome(DEPLOY, Demo::deploy)
                .handleWithOutcome(REPORT, Demo::encode)
                .handleWithOutcome(PROBE, Demo::mail)
                .start()));
  }

  private static WorkerBuilder worker(
      HoldfastClient client, String name, int atOnce, String... queues) {
    return client
        .worker()
        .configure(config -> config.withName(name).withQueues(queues).withConcurrency(atOnce));
  }

  /** Enqueues the jobs of one second, and performs some acts of people. */
  void runOnce() {
    for (int i = 0; i < 6 + dice.nextInt(20); i++) {
      client.enqueue(
          MAIL.job(new Task("customer-" + dice.nextInt(1_000), 0))
              .withQueue("mail")
              .withTags("newsletter")
              .withPolicy(
                  PolicyOverrides.NONE
                      .withMaxAttempts(3)
                      .withRetry(
                          new RetryPolicy.Delays(
                              List.of(Duration.ofSeconds(5), Duration.ofSeconds(20))))));
    }
    if (round % 5 == 0) {
      client.enqueue(
          VIDEO
              .job(new Task("s3://raw/clip-%d.mov".formatted(round), 15 + dice.nextInt(30)))
              .withQueue("media")
              .withResources("gpu:" + dice.nextInt(2))
              .withTags("premium")
              .withPolicy(PolicyOverrides.NONE.withOnStop(OnStop.PAUSE)));
    }
    if (round % 4 == 1) {
      client.enqueue(
          DEPLOY
              .job(new Task("revision " + Integer.toHexString(dice.nextInt(1 << 24)), 3))
              .withQueue("deploys")
              .withTarget("site-" + dice.nextInt(6))
              .withPolicy(PolicyOverrides.NONE.withMaxAttempts(1).withOnFailure(OnFailure.HOLD)));
    }
    if (round % 20 == 2) {
      people();
    }
    round++;
  }

  private void people() {
    UUID report = client.enqueue(REPORT.job(new Task("sales", 10)).withQueue("reports")).id();
    client.cancel(report, Because.of("asked for twice"));
    client.enqueue(
        REPORT.job(new Task("next week", 10)).withQueue("reports").withDelay(Duration.ofDays(7)));
    UUID clip =
        client.enqueue(VIDEO.job(new Task("s3://raw/later.mov", 20)).withQueue("media")).id();
    client.pause(clip, Because.of("waits for the new codec"));
    ObjectNode pending = Json.object().put("kind", "report.daily").put("queue", "reports");
    client.ask("POST", "/jobs", Map.of(), Optional.of(pending.put("pending", true)));
  }

  private static Outcome mail(Task task, JobContext job) throws InterruptedException {
    RandomGenerator dice = RandomGenerator.getDefault();
    Thread.sleep(40 + dice.nextInt(300) + task.seconds() * 1_000L);
    job.log("connected to mx%d.example.org".formatted(dice.nextInt(3)));
    int luck = dice.nextInt(100);
    if (luck < 2) {
      return Outcome.failed(
          Failure.permanent("ADDRESS_REFUSED", "550 no such mailbox: " + task.about()));
    }
    if (luck < 6) {
      return Outcome.failed(
          Failure.retryable("SMTP_TIMEOUT", "no answer from mx1.example.org within 10 s"));
    }
    job.log("250 accepted for " + task.about());
    return Outcome.succeeded(job.payload(Map.of("to", task.about(), "attempt", job.attempt())));
  }

  private static Outcome encode(Task task, JobContext job) throws InterruptedException {
    int segments = Math.max(1, task.seconds() * 4);
    for (int i = 1; i <= segments; i++) {
      if (job.shouldStop()) {
        return new Outcome.Stopped();
      }
      Thread.sleep(250);
      job.log("segment %03d of %03d of %s".formatted(i, segments, task.about()));
      job.progress(
          Progress.NONE
              .withProgressCount(i)
              .withPercent(100.0 * i / segments)
              .withCursor("segment-%03d".formatted(i))
              .withMessage("encoding " + task.about()));
    }
    return Outcome.succeeded(job.payload(Map.of("segments", segments)));
  }

  private static Outcome deploy(Task task, JobContext job) throws InterruptedException {
    for (String step : List.of("fetch", "build", "switch", "check health")) {
      job.log(step + " " + task.about());
      Thread.sleep(400L * task.seconds());
    }
    return RandomGenerator.getDefault().nextInt(8) == 0
        ? Outcome.failed(
            Failure.permanent("HEALTH_CHECK", "GET /healthz answered 502 after the switch"))
        : Outcome.succeeded(job.payload(Map.of("revision", task.about())));
  }

  static void ask(HoldfastClient client, String method, String path, String json) {
    ObjectNode body =
        Json.parse("body", json) instanceof ObjectNode object ? object : Json.object();
    client.ask(method, path, Map.of(), Optional.of(body));
  }

  /** Creates a tenant for it, if the token may; one that exists is kept. */
  static void makeTenant(HoldfastClient client, String name) {
    try {
      ask(client, "POST", "/tenants", "{\"name\": \"" + name + "\"}");
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.FORBIDDEN) {
        throw e;
      }
    }
  }

  @Override
  public void close() {
    workers.forEach(Worker::close);
  }
}
