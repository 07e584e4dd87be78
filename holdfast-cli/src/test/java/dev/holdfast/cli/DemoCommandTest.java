package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import dev.holdfast.queue.JobFilter;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.ServerRole;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestDatabase;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A demonstration is a real workload. */
class DemoCommandTest {

  @Test
  void it_fills_a_tenant_with_jobs_that_really_ran(@TempDir Path data) {
    TenantName tenant = new TenantName("demo_of_test");
    try (HoldfastServer server =
        HoldfastServer.start(
            ServerConfig.defaults(data)
                .withAddress("127.0.0.1", 0)
                .withRoles(Set.of(ServerRole.WEB, ServerRole.SCHEDULER))
                .withUpkeep(false),
            TestDatabase.shared().dataSource(),
            Map.of())) {
      StringWriter out = new StringWriter();
      CommandLine command = Main.commandLine().setOut(new PrintWriter(out));

      int code =
          command.execute(
              "demo",
              "--into",
              tenant.value(),
              "--seconds",
              "4",
              "--server",
              "http://127.0.0.1:" + server.port().orElseThrow(),
              "--token-file",
              data.resolve("admin.token").toString());

      assertThat(code).isZero();
      assertThat(out.toString()).contains("is busy");
      EnumSet<JobState> states = EnumSet.noneOf(JobState.class);
      TestDatabase.shared()
          .holdfast()
          .jobs(tenant)
          .list(JobFilter.ALL, Optional.empty(), 1_000)
          .jobs()
          .forEach(job -> states.add(job.state()));
      assertThat(states)
          .contains(JobState.SUCCEEDED, JobState.PENDING, JobState.PAUSED, JobState.CANCELLED);
      assertThat(TestDatabase.shared().holdfast().schedules(tenant).get("probe-sites")).isPresent();
      assertThat(TestDatabase.shared().holdfast().invariants(tenant).check()).isEmpty();
    } finally {
      TestDatabase.shared().holdfast().tenants().drop(tenant);
    }
  }
}
