package dev.holdfast.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.audit.Act;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Moved;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Consequences;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@Covers("A13")
class TransitionHookTest {

  private static final Kind<String> DEPLOY = Kind.of("deploy", String.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private Holdfast hooked;
  private boolean broken;

  @BeforeEach
  void theApplicationHasATableOfItsOwn() {
    tenant.execute("CREATE TABLE {schema}.site (id text PRIMARY KEY, state text NOT NULL)");
    tenant.execute("INSERT INTO {schema}.site VALUES ('site:1', 'new')");
    hooked =
        Holdfast.builder(TestDatabase.shared().dataSource()).onTransition(this::follow).build();
  }

  @Test
  void the_applications_table_follows_a_job_from_start_to_end() {
    hooked.jobs(tenant.name()).enqueue(DEPLOY.job("x").withResources("site:1"));
    StringBuilder seen = new StringBuilder();

    try (Worker worker =
        hooked.worker(tenant.name()).handle(DEPLOY, (args, job) -> seen.append(state())).build()) {
      worker.runDue();
    }

    assertThat(seen.toString()).isEqualTo("running");
    assertThat(state()).isEqualTo("succeeded");
  }

  @Test
  void jobs_without_needs_are_followed_too() {
    hooked.jobs(tenant.name()).enqueue(DEPLOY.job("x"));

    try (Worker worker = hooked.worker(tenant.name()).handle(DEPLOY, (args, job) -> {}).build()) {
      worker.runDue();
    }

    assertThat(state()).isEqualTo("succeeded");
  }

  @Test
  void an_end_is_not_taken_for_lost_because_the_hook_misses_its_table() {
    hooked.jobs(tenant.name()).enqueue(DEPLOY.job("x"));
    PgLeases leases =
        new PgLeases(
            tenant.tenant(),
            Set::of,
            new LanePositions(System::nanoTime),
            () -> 0,
            Consequences.of(() -> {}, TransitionHookTest::missIt));
    Lease lease = leases.claim(ClaimRequest.of("w", Set.of("default"), 1)).leases().getFirst();

    List<FinishReply> replies = leases.finish(List.of(new Finish(lease, Outcome.succeeded())));

    assertThat(replies).singleElement().isInstanceOf(FinishReply.NotNow.class);
    assertThat(tenant.job(lease.key().jobId()).state()).isEqualTo(JobState.RUNNING);
  }

  private static void missIt(Connection connection, List<Moved> moved) throws SQLException {
    if (moved.getFirst().to().isFinished()) {
      try (PreparedStatement statement = connection.prepareStatement("DELETE FROM no_such")) {
        statement.execute();
      }
    }
  }

  @Test
  void an_act_and_the_applications_table_change_together_or_not_at_all() {
    UUID id = hooked.jobs(tenant.name()).enqueue(DEPLOY.job("x").withResources("site:1")).id();
    broken = true;

    assertThatThrownBy(() -> hooked.acts(tenant.name()).cancel(id, Act.by("ada")))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("transition hook");
    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(state()).isEqualTo("new");
    broken = false;
    hooked.acts(tenant.name()).cancel(id, Act.by("ada"));

    assertThat(state()).isEqualTo("cancelled");
  }

  private void follow(Connection connection, List<Moved> moved) throws SQLException {
    String sql = tenant.tenant().db().sql("UPDATE {schema}.site SET state = ? WHERE id = ?");
    for (Moved job : moved) {
      try (PreparedStatement update = connection.prepareStatement(sql)) {
        update.setString(1, job.to().stored());
        update.setString(2, "site:1");
        update.executeUpdate();
      }
    }
    if (broken) {
      throw new SQLException("the application's table is broken");
    }
  }

  private String state() {
    return String.valueOf(tenant.query("SELECT state FROM {schema}.site").getFirst().get("state"));
  }
}
