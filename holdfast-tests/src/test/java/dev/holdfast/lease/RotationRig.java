package dev.holdfast.lease;

import dev.holdfast.Holdfast;
import dev.holdfast.job.Kind;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Tenants that a worker of all tenants serves in turn. */
abstract class RotationRig {

  static final Kind<Integer> COUNT = Kind.of("count", Integer.class);

  private static final AtomicInteger NUMBER = new AtomicInteger();

  // A control schema of its own, so that the tenants of other tests are not in the rotation.
  final String control = "rotation_" + NUMBER.incrementAndGet();
  final Holdfast holdfast =
      Holdfast.builder(TestDatabase.shared().dataSource()).controlSchema(control).build();

  @BeforeEach
  void migrate() {
    holdfast.migrate();
  }

  @AfterEach
  void drop() {
    holdfast.tenants().list().forEach(holdfast.tenants()::drop);
    holdfast
        .tenants()
        .control()
        .jdbi()
        .useHandle(handle -> handle.execute("DROP SCHEMA " + control + " CASCADE"));
  }

  final TenantRotation rotation(Function<Tenant, Consequences> consequences) {
    TenantRotation rotation =
        new TenantRotation(
            holdfast.tenants(),
            tenant ->
                new PgLeases(
                    tenant,
                    Set::of,
                    new LanePositions(() -> 0),
                    RandomGenerator.getDefault(),
                    consequences.apply(tenant)));
    rotation.refresh();
    return rotation;
  }

  static ClaimRequest request(int limit) {
    return ClaimRequest.of("worker", Set.of("default"), limit).withKinds(Set.of("count"));
  }

  final List<UUID> enqueue(String tenant, int jobs) {
    List<UUID> ids = new ArrayList<>();
    for (int i = 0; i < jobs; i++) {
      ids.add(holdfast.jobs(new TenantName(tenant)).enqueue(COUNT.job(i)).id());
    }
    return ids;
  }
}
