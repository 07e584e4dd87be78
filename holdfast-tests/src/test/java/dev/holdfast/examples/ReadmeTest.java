package dev.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.audit.Act;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.queue.Enqueued;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.queue.Why;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Scheduler;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Every Java snippet of the README stands in this file, word for word, and runs. */
@SuppressWarnings("UnusedVariable") // the stand-ins below do not look at what they are given
class ReadmeTest {

  record Welcome(String email) {}

  static final Kind<Welcome> WELCOME = Kind.of("welcome", Welcome.class);

  record Import(int rows) {}

  static final Kind<Import> IMPORT = Kind.of("import", Import.class);

  record Payment(int amount) {}

  static final Kind<Payment> PAYMENT = Kind.of("payment", Payment.class);

  record Poll(String what) {}

  static final Kind<Poll> POLL = Kind.of("poll", Poll.class);

  record Digest(String to) {}

  static final Kind<Digest> DIGEST = Kind.of("digest", Digest.class);

  static final Kind<String> DEPLOY = Kind.of("deploy", String.class);

  static final Kind<String> SYNC = Kind.of("sync", String.class);

  private static final Logger log = LoggerFactory.getLogger(ReadmeTest.class);

  interface Mailer {
    void send(String email);
  }

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void every_java_snippet_of_the_readme_is_compiled_here() throws Exception {
    Path root = Path.of("").toAbsolutePath().getParent();
    String readme = Files.readString(root.resolve("README.md"));
    String here =
        squeezed(
            Files.readString(
                root.resolve(
                    "holdfast-tests/src/test/java/dev/holdfast/examples/ReadmeTest.java")));
    List<String> snippets =
        Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
            .matcher(readme)
            .results()
            .map(found -> found.group(1))
            .toList();

    assertThat(snippets).hasSizeGreaterThan(8);
    assertThat(snippets).allSatisfy(snippet -> assertThat(here).contains(squeezed(snippet)));
  }

  @Test
  void from_nothing_to_a_running_job() throws Exception {
    CountDownLatch sent = new CountDownLatch(1);
    Mailer mailer = email -> sent.countDown();
    DataSource dataSource = TestDatabase.shared().dataSource();

    Holdfast holdfast = Holdfast.on(dataSource).migrate();

    Worker worker =
        holdfast.worker().handle(WELCOME, (welcome, job) -> mailer.send(welcome.email())).start();

    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      insertUser(connection, "ada@example.org");
      holdfast.jobs().enqueue(connection, WELCOME.job(new Welcome("ada@example.org")));
      connection.commit();
    }
    sent.await();
    worker.close();
  }

  @Test
  void work_that_comes_again() {
    Holdfast holdfast = TestDatabase.shared().holdfast().migrate();

    Schedule digest =
        Schedule.of(
            "daily_digest",
            Trigger.cron("30 7 * * MON-FRI", ZoneId.of("Europe/Berlin")),
            DIGEST.job(new Digest("everybody")));
    holdfast.schedules().declare("mailer", List.of(digest));
    Scheduler scheduler = holdfast.scheduler().start();

    assertThat(holdfast.schedules().next("daily_digest", 5, Optional.empty())).hasSize(5);
    scheduler.close();
    holdfast.schedules().delete("daily_digest", Act.by("the test"));
  }

  @Test
  void an_enqueue_with_everything() {
    Holdfast holdfast = tenant.holdfast();

    Enqueued enqueued =
        holdfast
            .jobs()
            .enqueue(
                WELCOME
                    .job(new Welcome("bob@example.org"))
                    .withDelay(Duration.ofMinutes(10))
                    .withPriority(-1) // smaller runs first
                    .withUniqueKey("welcome-bob")
                    .withTags("onboarding"));

    assertThat(holdfast.jobs().get(enqueued.id())).isPresent();
  }

  @Test
  void jobs_that_need_something_to_themselves() {
    Holdfast holdfast = tenant.holdfast();
    String release = "1.2";
    String account = "ada";

    holdfast.jobs().enqueue(DEPLOY.job(release).withResources("site:42", "node:7"));
    holdfast.resources().setCapacity("licence", 5, Act.by("ada"));

    Enqueued first =
        holdfast
            .jobs()
            .enqueue(
                SYNC.job(account)
                    .withTarget("crm")
                    .withPolicy(PolicyOverrides.NONE.withOnFailure(OnFailure.HOLD)));
    holdfast.acts().pause(first.id(), Act.by("ada"));
    UUID id = holdfast.jobs().enqueue(SYNC.job(account).withTarget("crm")).id();

    Why why = holdfast.jobs().why(id);
    log.info(
        "{}: {}", why.reason(), why.detail()); // RESOURCE_BLOCKED: target:crm: job … (paused) …
    holdfast
        .acts()
        .resume(why.blockedBy().orElseThrow().jobId(), Act.by("ada").because("it is up again"));

    assertThat(why.reason()).isEqualTo(Why.Reason.RESOURCE_BLOCKED);
    assertThat(holdfast.jobs().get(first.id()).orElseThrow().state()).isEqualTo(JobState.QUEUED);
    holdfast.acts().cancel(id, Act.by("ada"));
    holdfast.acts().cancel(first.id(), Act.by("ada"));
  }

  @Test
  void a_welcome_is_sent_after_ten_minutes() {
    List<String> sent = new ArrayList<>();
    Worker worker =
        tenant.worker().handle(WELCOME, (welcome, job) -> sent.add(welcome.email())).build();
    tenant.jobs().enqueue(WELCOME.job(new Welcome("ada")).withDelay(Duration.ofMinutes(10)));

    tenant.advance(Duration.ofMinutes(10));
    worker.runDue();

    assertThat(sent).containsExactly("ada");
  }

  @Test
  void what_a_handler_can_do() {
    Holdfast holdfast = tenant.holdfast();
    Worker worker =
        tenant
            .worker()
            .handle(
                IMPORT,
                (file, job) -> {
                  int row =
                      job.lastCursor()
                          .map(Integer::parseInt)
                          .orElse(0); // where the last attempt got to
                  for (; row < file.rows() && !job.shouldStop(); row++) {
                    importRow(
                        file,
                        row,
                        job.fence()); // a fence lets your own systems refuse a stale worker
                    job.checkpoint(String.valueOf(row + 1)); // durable when this returns
                  }
                  job.log("imported up to row " + row);
                })
            .handle(
                PAYMENT,
                (payment, job) ->
                    job.inTransaction(own -> {
                      book(own, payment);
                      return job.payload(payment.amount()); // the job's result
                    }))
            .handleWithOutcome(
                POLL,
                (poll, job) ->
                    isReady(poll)
                        ? Outcome.succeeded()
                        : Outcome.snoozed(Duration.ofSeconds(30))) // costs no attempt
            .build();
    var imported = tenant.jobs().enqueue(IMPORT.job(new Import(3))).id();
    var paid = tenant.jobs().enqueue(PAYMENT.job(new Payment(7))).id();
    var polled = tenant.jobs().enqueue(POLL.job(new Poll("x"))).id();

    worker.runDue();

    assertThat(tenant.jobs().log(imported)).containsExactly("imported up to row 3");
    assertThat(tenant.job(paid).result().orElseThrow().json()).isEqualTo("7");
    assertThat(tenant.job(polled).state()).isEqualTo(JobState.QUEUED);

    holdfast
        .queues()
        .put(
            "mail",
            QueueSettings.DEFAULTS
                .withConcurrencyLimit(5) // over all workers
                .withDefaults(
                    PolicyOverrides.NONE
                        .withMaxAttempts(10)
                        .withRetry(RetryPolicy.Exponential.DEFAULTS)));
  }

  // What the snippets call and the README leaves to the reader.

  private static void insertUser(Connection connection, String email) {}

  private static void importRow(Import file, int row, long fence) {}

  private static void book(Connection connection, Payment payment) {}

  private static boolean isReady(Poll poll) {
    return false;
  }

  // The formatter breaks lines as it likes; what is compared is the code.
  private static String squeezed(String code) {
    return code.replaceAll("\\s+", "");
  }
}
