package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.job.NewJob;
import dev.holdfast.server.notify.Inspector;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestDatabase;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

/** What must not be is seen by whoever reads the figures, in whichever tenant it is. */
class InspectorTest {

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  @Test
  void violations_are_counted_over_all_tenants_until_they_are_gone() {
    Holdfast holdfast =
        Holdfast.builder(TestDatabase.shared().dataSource())
            .controlSchema("inspected")
            .build()
            .migrate();
    TenantName other = new TenantName("other");
    holdfast.tenants().create(other);
    Inspector inspector = new Inspector(holdfast, registry);
    try {
      holdfast.jobs(other).enqueue(NewJob.of("a", 1));
      round(inspector, holdfast);
      assertThat(violations("I21")).isZero();

      change(holdfast, other, "state = 'asleep'");
      round(inspector, holdfast);
      assertThat(violations("I21")).isEqualTo(1);
      assertThat(violations("I6")).isZero();

      change(holdfast, other, "state = 'queued'");
      round(inspector, holdfast);
      assertThat(violations("I21")).isZero();
    } finally {
      holdfast.tenants().drop(other);
    }
  }

  @Test
  void a_job_that_an_idle_worker_overlooks_is_counted_from_the_second_look_on() {
    Holdfast holdfast =
        Holdfast.builder(TestDatabase.shared().dataSource())
            .controlSchema("overlooked")
            .build()
            .migrate();
    holdfast.jobs().enqueue(NewJob.of("a", 1));
    Inspector inspector = new Inspector(holdfast, registry);
    round(inspector, holdfast);
    holdfast
        .tenants()
        .control()
        .useHandle(handle ->
            handle.execute(
                """
                INSERT INTO overlooked.worker
                       (incarnation, name, host, labels, queues, idle_since, idle_until, poll_ms)
                VALUES (gen_random_uuid(), 'w', 'here', '{}', '{default}',
                        now() - interval '1 minute', now() + interval '1 minute', 2000)
                """));
    assertThat(violations("I14")).isZero();

    round(inspector, holdfast);

    assertThat(violations("I14")).isEqualTo(1);
  }

  private static void round(Inspector inspector, Holdfast holdfast) {
    holdfast.tenants().list().forEach(tenant -> inspector.runOnce());
  }

  private static void change(Holdfast holdfast, TenantName tenant, String what) {
    holdfast
        .tenants()
        .tenant(tenant)
        .db()
        .useTransaction(
            handle -> handle.execute("UPDATE inspected_" + tenant + ".job SET " + what));
  }

  private double violations(String id) {
    return registry.get("holdfast.invariant.violations").tag("id", id).gauge().value();
  }
}
