package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Json;
import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.tenancy.OpenTenants;
import dev.holdfast.server.tenancy.Registry;
import dev.holdfast.testkit.TestTenant;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/** Arguments are judged for what runs their kind when they come, and are for nothing else. */
class PlantedCommandsTest {

  private static final String API = "/api/v1";
  private static final String TRUE =
      "{\"executor\": \"process\", \"settings\": {\"argv\": [\"/bin/true\"]}}";

  @RegisterExtension final TestTenant tenant = new TestTenant();
  @TempDir Path directory;
  private Path planted;
  private Caller system;
  private Caller operator;
  private Caller submitter;

  @BeforeEach
  void callers() {
    planted = directory.resolve("planted");
    system = TestServer.shared().as(Role.SYSTEM, tenant.name());
    operator = TestServer.shared().as(Role.OPERATOR, tenant.name());
    submitter = TestServer.shared().as(Role.SUBMITTER, tenant.name());
  }

  @Test
  void what_was_enqueued_before_its_kind_had_an_executor_is_not_run_by_one() {
    UUID early = id(submitter.post(API + "/jobs", Json.write(command().put("delay_seconds", 60))));
    register(TRUE);
    UUID late = id(submitter.post(API + "/jobs", "{\"kind\": \"later\"}"));
    tenant.advance(Duration.ofMinutes(2));

    runDue();

    assertRefused(early);
    assertThat(tenant.job(late).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void nor_is_the_job_of_a_schedule_that_is_older_than_the_kind() {
    ObjectNode schedule = command().put("every_seconds", 86_400);
    assertThat(operator.put(API + "/schedules/nightly", Json.write(schedule)).status())
        .isEqualTo(201);
    register(TRUE);

    UUID job = id(operator.post(API + "/schedules/nightly/trigger", "{}"));
    runDue();
    Reply again =
        operator.put(API + "/schedules/nightly", operator.get(API + "/schedules/nightly").text());

    assertRefused(job);
    assertThat(again.status()).as("put as it was, it is judged anew").isEqualTo(400);
  }

  @Test
  void nor_what_another_executor_was_to_run() {
    register("{\"executor\": \"http\", \"settings\": {\"url\": \"http://127.0.0.1:9/\"}}");
    UUID job = id(submitter.post(API + "/jobs", Json.write(command())));
    register(TRUE);

    runDue();

    assertRefused(job);
  }

  @Test
  void a_retry_does_not_make_it_anything_else() {
    UUID job = id(submitter.post(API + "/jobs", Json.write(command())));
    register(TRUE);
    runDue();

    assertThat(operator.post(API + "/jobs/" + job + "/retry", "{}").status()).isEqualTo(200);
    runDue();

    assertRefused(job);
  }

  @Test
  void nor_does_a_playbook_run_for_a_job_that_is_older_than_what_its_kind_fixes() {
    String roll = "{\"kind\": \"roll\", \"queue\": \"%s\", \"args\": {\"stage\": \"%s\"}}";
    UUID other = id(submitter.post(API + "/jobs", roll.formatted("one", "production")));
    UUID same = id(submitter.post(API + "/jobs", roll.formatted("two", "test")));
    system.put(
        API + "/kinds/roll",
        "{\"executor\": \"ansible\", \"playbook\": \"roll.yml\", \"settings\": {\"stage\": \"test\"}}");

    assertThat(runbook("one", other).status()).isEqualTo(409);
    assertThat(runbook("two", same).status()).isEqualTo(200);
  }

  private Reply runbook(String queue, UUID job) {
    Caller worker = TestServer.shared().as(Role.WORKER, tenant.name());
    Reply leases =
        worker.post(API + "/leases", "{\"worker\": \"w\", \"queues\": [\"%s\"]}".formatted(queue));
    long fence = leases.json().path("leases").path(0).path("fence").asLong();
    return worker.get(API + "/jobs/" + job + "/runbook?fence=" + fence);
  }

  // It would cost them the fast way into the table.
  @Test
  void jobs_without_a_command_are_not_marked() {
    UUID plain = id(submitter.post(API + "/jobs", "{\"kind\": \"sums\", \"args\": {\"n\": 7}}"));
    UUID marked = id(submitter.post(API + "/jobs", Json.write(command())));

    assertThat(tenant.job(plain).policy().enqueuedAs()).isEmpty();
    assertThat(tenant.job(marked).policy().enqueuedAs()).contains("worker");
  }

  // Whoever has the database is asked nothing.
  @Test
  void what_an_application_enqueues_itself_is_run() {
    register(TRUE);
    UUID job = tenant.jobs().enqueue(NewJob.of("later", Map.of("argv", List.of("/bin/true")))).id();

    runDue();

    assertThat(tenant.job(job).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void nobody_says_for_themselves_what_they_were_judged_for() {
    register(TRUE);
    Reply refused =
        submitter.post(API + "/jobs", "{\"kind\": \"other\", \"enqueued_as\": \"process\"}");

    assertThat(refused.status()).isEqualTo(400);
  }

  private ObjectNode command() {
    ObjectNode job = Json.object().put("kind", "later");
    job.putObject("args").putArray("argv").add("/usr/bin/touch").add(planted.toString());
    return job;
  }

  private void register(String kind) {
    assertThat(system.put(API + "/kinds/later", kind).status()).isEqualTo(200);
  }

  private static UUID id(Reply made) {
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    return UUID.fromString(made.json().path("id").asString());
  }

  private void runDue() {
    Registry kinds =
        new Registry(tenant.holdfast(), new OpenTenants(tenant.holdfast(), tenant -> Set::of));
    Duration unused = kinds.runOnce();
    try (JobExecutors executors =
        JobExecutors.open(Set.of("process", "http"), ExecutorConfig.DEFAULTS)) {
      executors.installOn(tenant.worker(), kinds).build().runDue();
    }
  }

  private void assertRefused(UUID id) {
    Job job = tenant.job(id);
    assertThat(planted).doesNotExist();
    assertThat(job.errorCode()).contains("KIND_CHANGED");
    assertThat(job.errorMessage().orElseThrow()).contains("later", "Enqueue it anew");
    assertThat(job.state()).isEqualTo(JobState.FAILED);
  }
}
