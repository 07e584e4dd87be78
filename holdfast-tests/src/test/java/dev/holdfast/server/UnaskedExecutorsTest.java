package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.server.postgres.EmbeddedPostgres;
import dev.holdfast.server.postgres.TestPrograms;
import dev.holdfast.tenant.TenantName;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands can read the server's files: they are no other tenant's unless somebody said so. */
class UnaskedExecutorsTest {

  private static final Set<String> QUEUES = Set.of("default");
  private static final TenantName OTHER = new TenantName("other");

  @TempDir Path data;

  @Test
  @Timeout(120)
  void commands_that_nobody_asked_for_are_the_default_tenants_alone() throws Exception {
    try (EmbeddedPostgres postgres = EmbeddedPostgres.start(TestPrograms.in(data));
        HikariDataSource pool = pool(postgres)) {
      Holdfast holdfast = Holdfast.on(pool);
      try (HoldfastServer server = server(pool, JobExecutors.USUAL)) {
        holdfast.tenants().create(OTHER);
        UUID theirs = command(holdfast, OTHER);
        UUID first = command(holdfast, TenantName.DEFAULT);
        awaitEnd(holdfast, TenantName.DEFAULT, first);
        awaitEnd(holdfast, TenantName.DEFAULT, command(holdfast, TenantName.DEFAULT));

        assertThat(server.port()).isPresent();
        assertThat(job(holdfast, TenantName.DEFAULT, first).state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(job(holdfast, OTHER, theirs).state()).isEqualTo(JobState.QUEUED);
        assertThat(job(holdfast, OTHER, theirs).attempt()).isZero();
      }
      try (HoldfastServer server = server(pool, Set.of())) {
        UUID asked = command(holdfast, OTHER);
        awaitEnd(holdfast, OTHER, asked);

        assertThat(server.port()).isPresent();
        assertThat(job(holdfast, OTHER, asked).state()).isEqualTo(JobState.SUCCEEDED);
      }
    }
  }

  @Test
  void calls_reach_listed_hosts_alone_and_are_for_all() {
    ExecutorSettings settings =
        new ExecutorSettings(
            JobExecutors.USUAL, QUEUES, ExecutorConfig.DEFAULTS, JobExecutors.USUAL);

    assertThat(settings.forDefaultTenant()).containsExactly("process");
    assertThat(settings.forAllTenants()).containsExactly("http");
  }

  private HoldfastServer server(HikariDataSource pool, Set<String> unasked) {
    return HoldfastServer.start(
        ServerConfig.defaults(data)
            .withAddress("127.0.0.1", 0)
            .withRoles(Set.of(ServerRole.WEB, ServerRole.WORKER))
            .withExecutors(
                new ExecutorSettings(JobExecutors.USUAL, QUEUES, ExecutorConfig.DEFAULTS, unasked)),
        pool,
        Map.of());
  }

  private static HikariDataSource pool(EmbeddedPostgres postgres) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(postgres.dataSource());
    config.setMaximumPoolSize(15);
    return new HikariDataSource(config);
  }

  private static UUID command(Holdfast holdfast, TenantName tenant) {
    return holdfast
        .jobs(tenant)
        .enqueue(NewJob.of("process", Map.of("argv", List.of("/bin/true"))))
        .id();
  }

  private static Job job(Holdfast holdfast, TenantName tenant, UUID id) {
    return holdfast.jobs(tenant).get(id).orElseThrow();
  }

  private static void awaitEnd(Holdfast holdfast, TenantName tenant, UUID id) {
    while (!job(holdfast, tenant, id).state().isFinished()) {
      Thread.onSpinWait();
    }
  }
}
