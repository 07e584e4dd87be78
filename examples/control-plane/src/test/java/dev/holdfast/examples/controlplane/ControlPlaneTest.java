package dev.holdfast.examples.controlplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.examples.controlplane.ControlPlane.Person;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.testkit.Tools;
import dev.holdfast.testkit.Watched;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerListener;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Real playbooks on this machine. */
class ControlPlaneTest {

  private static final Path PLAYBOOKS = Path.of("playbooks").toAbsolutePath();
  private static final Person ADMIN = new Person("ada", true);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @TempDir Path root;

  private final BlockingQueue<String> deeds = new LinkedBlockingQueue<>();
  private ControlPlane plane;
  private JobExecutors executors;
  private Worker worker;

  @BeforeEach
  void start() {
    Tools.require("ansible-playbook");
    plane =
        new ControlPlane(
            TestDatabase.shared().dataSource(),
            new SchemaName("plane_" + tenant.name().value()),
            tenant.name());
    plane.tables().addNode(Demo.here("n1"), root.toString());
    plane.tables().addNode(Demo.here("n2"), root.toString());
    plane.tables().addSite("s1", "shop");
    plane.tables().addSite("s2", "blog");
    plane.tables().addEnvironment("e1", "s1", "n1", "production");
    plane.tables().addEnvironment("e2", "s1", "n2", "staging");
    plane.tables().addEnvironment("e3", "s2", "n1", "production");
    executors = ControlPlane.executors(PLAYBOOKS);
    worker =
        plane
            .worker(executors)
            .configure(config -> config.withHeartbeatInterval(Duration.ofMillis(100)))
            .listen(new Deeds())
            .start();
  }

  @AfterEach
  void stop() {
    worker.close();
    executors.close();
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Covers("A13")
  @Test
  void an_environment_is_cloned_deployed_and_restored_and_its_state_follows() throws Exception {
    end(plane.start(Task.CLONE, "e1", Map.of()));
    assertThat(plane.state("e1")).isEqualTo("active");
    end(plane.start(Task.DEPLOY, "e1", Map.of("version", "1")));
    end(plane.start(Task.DEPLOY, "e1", Map.of("version", "2")));
    assertThat(root.resolve("e1/current/index.html")).content().contains("Release 2");

    end(plane.start(Task.RESTORE, "e1", Map.of("version", "1")));

    assertThat(root.resolve("e1/current/index.html")).content().contains("Release 1");
    assertThat(plane.state("e1")).isEqualTo("active");
  }

  @Covers({"A13", "A14", "A15"})
  @Test
  void a_running_deployment_is_stopped_by_an_admin_alone_and_nothing_is_rolled_back()
      throws Exception {
    end(plane.start(Task.CLONE, "e1", Map.of()));
    UUID id = plane.start(Task.DEPLOY, "e1", Map.of("version", "1", "approval", "yes"));
    Watched.await(root.resolve("e1/releases/1/index.html"));
    assertThat(plane.state("e1")).isEqualTo("deploying");

    assertThatThrownBy(() -> plane.cancel(id, new Person("bob", false)))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("admin");
    plane.cancel(id, ADMIN);
    Job job = end(id);

    assertThat(job.state()).isEqualTo(JobState.CANCELLED);
    assertThat(plane.state("e1")).isEqualTo("failed");
    assertThat(root.resolve("e1/releases/1/index.html")).exists();
    assertThat(root.resolve("e1/current/index.html")).content().contains("Environment e1");
  }

  @Covers({"A2", "A3"})
  @Test
  void one_job_runs_for_a_site_and_for_a_node_and_the_others_wait() throws Exception {
    end(plane.start(Task.CLONE, "e1", Map.of()));
    UUID running = plane.start(Task.DEPLOY, "e1", Map.of("version", "1", "approval", "yes"));
    Watched.await(root.resolve("e1/releases/1/index.html"));
    UUID sameSite = plane.start(Task.CLONE, "e2", Map.of());
    UUID sameNode = plane.start(Task.CLONE, "e3", Map.of());
    await(() ->
        tenant.job(sameSite).waitingOn().isPresent()
            && tenant.job(sameNode).waitingOn().isPresent());

    assertThat(tenant.job(sameSite).waitingOn()).contains("site:s1");
    assertThat(tenant.job(sameNode).waitingOn()).contains("node:n1");
    assertThat(plane.state("e2")).isEqualTo("new");
    Files.createFile(root.resolve("e1/approved"));
    assertThat(end(running).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(end(sameSite).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(end(sameNode).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Covers("A13")
  @Test
  void a_task_that_waits_for_a_retry_keeps_its_state_and_one_that_is_cancelled_then_has_failed()
      throws Exception {
    UUID id = plane.start(Task.DEPLOY, "e1", Map.of("version", "1")); // it was never cloned
    await(() -> tenant.job(id).errorCode().isPresent());

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(id).errorCode()).contains("ANSIBLE_HOST_FAILED");
    assertThat(plane.state("e1")).isEqualTo("deploying");
    plane.cancel(id, ADMIN);
    assertThat(plane.state("e1")).isEqualTo("failed");
  }

  private Job end(UUID id) throws Exception {
    await(() -> tenant.job(id).state().isFinished());
    return tenant.job(id);
  }

  /** The test's own timeout ends a wait in vain. */
  private void await(Callable<Boolean> condition) throws Exception {
    while (!condition.call()) {
      deeds.take();
    }
  }

  /** Whatever the worker does is a reason to look again; one for each look yet to come. */
  private final class Deeds implements WorkerListener {

    @Override
    public void claimed(int jobs, Duration took) {
      deeds.add("claimed " + jobs);
    }

    @Override
    public void finished(Lease lease, FinishReply reply) {
      deeds.add("finished " + lease.key().jobId());
    }
  }
}
