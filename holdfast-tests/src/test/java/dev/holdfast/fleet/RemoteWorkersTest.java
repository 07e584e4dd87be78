package dev.holdfast.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.tenant.Db;
import dev.holdfast.testkit.TestTenant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RemoteWorkersTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();
  @RegisterExtension final TestTenant other = new TestTenant();

  @Test
  void a_worker_that_was_silent_for_a_day_is_forgotten_while_the_server_runs() {
    Db control = tenant.holdfast().tenants().control();
    RemoteWorkers workers = new RemoteWorkers(control);
    workers.seen(info("gone"));
    workers.seen(info("silent"));
    workers.runOnce();
    silentFor(control, "gone", "25 hours");
    silentFor(control, "silent", "23 hours");

    workers.runOnce();

    List<WorkerState> known = new Workers(control).list(tenant.name(), "", 10);
    assertThat(known).extracting(each -> each.info().name()).containsExactly("silent");
  }

  @Test
  void a_tenant_has_so_many_names_of_workers_and_those_it_has_stay_known() {
    Db control = tenant.holdfast().tenants().control();
    RemoteWorkers workers = new RemoteWorkers(control, 3);
    for (String name : List.of("a", "b", "c", "a")) {
      assertThat(workers.seen(info(name))).isTrue();
    }
    assertThat(workers.seen(info("made up"))).isFalse();

    workers.runOnce();
    assertThat(workers.seen(info("made up"))).isFalse();
    assertThat(workers.seen(info("b"))).isTrue();
    assertThat(workers.seen(info("made up", other))).as("another tenant's").isTrue();
    RemoteWorkers elsewhere = new RemoteWorkers(control, 3);
    elsewhere.runOnce();
    assertThat(elsewhere.seen(info("made up"))).isFalse();
    assertThat(elsewhere.seen(info("c"))).isTrue();
    workers.runOnce();
    assertThat(names(control)).containsExactly("a", "b", "c");

    silentFor(control, "a", "25 hours");
    workers.runOnce();
    assertThat(workers.seen(info("another"))).isTrue();
    assertThat(workers.seen(info("made up"))).isFalse();
  }

  private List<String> names(Db control) {
    return new Workers(control)
        .list(tenant.name(), "", 1_000).stream()
            .filter(each -> each.info().tenant().isPresent())
            .map(each -> each.info().name())
            .toList();
  }

  private void silentFor(Db control, String name, String time) {
    String sql =
        "UPDATE {schema}.worker SET beat_at = now() - ?::interval WHERE name = ? AND tenant = ?";
    control.useHandle(
        handle -> handle.execute(control.sql(sql), time, name, tenant.name().value()));
  }

  private WorkerInfo info(String name) {
    return info(name, tenant);
  }

  private static WorkerInfo info(String name, TestTenant tenant) {
    return new WorkerInfo(
        name,
        name,
        Map.of(),
        Optional.of(tenant.name().value()),
        Set.of("default"),
        Optional.empty());
  }
}
