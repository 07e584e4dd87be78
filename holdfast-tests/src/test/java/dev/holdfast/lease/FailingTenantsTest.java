package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A worker of all tenants while one of them, or the database, fails. */
class FailingTenantsTest extends RotationRig {

  private static Consequences consequences(Tenant tenant) {
    return tenant.name().value().equals("broken")
        ? Consequences.of(
            () -> {},
            (connection, moved) -> {
              throw new IllegalStateException("the hook's own");
            })
        : () -> {};
  }

  @Test
  void a_tenant_whose_hook_throws_takes_nothing_from_the_others() {
    for (String name : List.of("a", "broken", "c")) {
      holdfast.tenants().create(new TenantName(name));
      enqueue(name, 12);
    }
    TenantRotation rotation = rotation(FailingTenantsTest::consequences);

    List<UUID> granted = new ArrayList<>();
    for (int round = 0; round < 3; round++) { // each of them comes first once
      rotation.announced("broken");
      List<Lease> leases = rotation.claim(request(3)).leases();
      assertThat(leases).extracting(lease -> lease.key().tenant()).contains("a", "c");
      leases.forEach(lease -> granted.add(lease.key().jobId()));
    }

    assertThat(granted)
        .containsExactlyInAnyOrderElementsOf(
            Stream.of("a", "c").flatMap(name -> leased(name).stream()).toList());
    assertThat(leased("broken")).isEmpty();
  }

  @Test
  void what_a_tenants_hook_throws_is_heard_of_when_no_other_tenant_grants_anything() {
    for (String name : List.of("broken", "idle")) {
      holdfast.tenants().create(new TenantName(name));
    }
    enqueue("broken", 1);
    TenantRotation rotation = rotation(FailingTenantsTest::consequences);
    rotation.announced("idle");

    assertThatThrownBy(() -> rotation.claim(request(4)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the hook's own");
  }

  @ParameterizedTest
  @CsvSource({"08006, 1, the connection broke", "57014, 2, only that statement took too long"})
  void no_other_tenant_is_asked_while_the_database_is_away(String sqlState, int asked, String why) {
    RuntimeException failure = SqlErrors.translated("claim", new SQLException(why, sqlState));
    Failing failing = new Failing(failure, new AtomicInteger());
    TenantRotation rotation = new TenantRotation(holdfast.tenants(), tenant -> failing);
    for (String name : List.of("one", "two")) {
      holdfast.tenants().create(new TenantName(name));
      enqueue(name, 1);
    }
    rotation.refresh();

    assertThatThrownBy(() -> rotation.claim(request(2))).isSameAs(failure);
    assertThat(failing.claims).hasValue(asked);
  }

  /** Answers no claim. */
  private record Failing(RuntimeException failure, AtomicInteger claims) implements LeaseSource {

    @Override
    public Claimed claim(ClaimRequest request) {
      claims.incrementAndGet();
      throw failure;
    }

    @Override
    public List<Extension> extend(List<Lease> leases) {
      throw failure;
    }

    @Override
    public ReportReply report(Lease lease, Report report) {
      throw failure;
    }

    @Override
    public List<FinishReply> finish(List<Finish> finished) {
      throw failure;
    }

    @Override
    public FinishReply finishInTransaction(Lease lease, TransactionWork work) {
      throw failure;
    }
  }

  private List<UUID> leased(String tenant) {
    Db db = holdfast.tenants().tenant(new TenantName(tenant)).db();
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql("SELECT id FROM {schema}.job WHERE worker IS NOT NULL"))
            .mapTo(UUID.class)
            .list());
  }
}
