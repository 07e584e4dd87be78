package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.fleet.WorkerInfo;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.TestTenant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Nothing of a tenant that was dropped reaches one that is made under its name. */
class DroppedTenantTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();
  private final Caller system =
      new Caller(TestServer.open().port(), Optional.empty(), Optional.empty());
  private Fleet fleet;
  private String id;

  @BeforeEach
  void gather() throws IOException {
    fleet = new Fleet(TestServer.open(), tenant);
    fleet.submit();
    id = fleet.running("a");
    Path log = fleet.file("jobs/" + id + "/logs/" + id + ".log");
    Files.createDirectories(log.getParent());
    Files.writeString(log, "of the old one");
    assertThat(fleet.caller().get("/file-logs/" + id).text()).isEqualTo("of the old one");
  }

  @Test
  void the_files_of_a_dropped_tenant_are_deleted(@TempDir Path elsewhere) throws IOException {
    Path kept = Files.writeString(elsewhere.resolve("kept"), "not the tenant's");
    Files.createSymbolicLink(fleet.file("jobs/link"), elsewhere);
    Path halfDeleted = Files.createDirectory(others().resolve(".dropped-" + tenant.name() + "-1"));

    drop();

    assertThat(fleet.directory()).doesNotExist();
    assertThat(halfDeleted).doesNotExist();
    assertThat(asideOf(".dropped-")).isEmpty();
    assertThat(kept).hasContent("not the tenant's");
    create();
    assertThat(fleet.caller().get("/file-logs/" + id).status()).isEqualTo(404);
    assertThat(fleet.caller().get("/result/" + id).status()).isEqualTo(404);
    assertThat(Files.exists(fleet.file("jobs/" + id))).isFalse();
  }

  @Test
  void agents_of_the_new_tenant_are_served_in_a_new_directory() {
    drop();
    create();

    String next = submitAnew(fleet);

    assertThat(fleet.take("b")).isEqualTo(next);
    assertThat(fleet.json("jobs/" + next + "/status.json").path("status").asString())
        .isEqualTo("dispatched");
  }

  @Test
  void a_node_that_does_not_hear_of_it_writes_into_the_new_directory() throws Exception {
    try (TestServer other = TestServer.start(TestServer.open().ownConfig())) {
      Fleet elsewhere = new Fleet(other, tenant);
      elsewhere.submit();
      drop();
      create();

      String next = submitAnew(elsewhere);

      assertThat(fleet.json("job_track.json").has(next)).isTrue();
      assertThat(fleet.json("job_track.json").has(id)).isFalse();
    }
  }

  @Test
  void files_that_a_drop_left_behind_are_kept_from_the_new_tenant() throws IOException {
    tenant.holdfast().tenants().drop(tenant.name()); // as a server that ended just then

    create();

    assertThat(fleet.caller().get("/file-logs/" + id).status()).isEqualTo(404);
    List<Path> aside = asideOf(".before-");
    assertThat(aside).hasSize(1);
    assertThat(aside.getFirst().resolve("jobs").resolve(id)).isDirectory();
  }

  @Test
  void the_workers_of_a_dropped_tenant_are_not_the_new_ones() {
    RemoteWorkers node = new RemoteWorkers(tenant.holdfast().tenants().control());
    WorkerInfo worker =
        new WorkerInfo(
            "old",
            "old",
            Map.of(),
            Optional.of(tenant.name().value()),
            Set.of("default"),
            Optional.empty());
    assertThat(node.seen(worker)).isTrue();
    Duration unused = node.runOnce();
    assertThat(fleet.caller().get("/api/v1/workers").text()).contains("\"old\"");
    assertThat(node.seen(worker)).isTrue();

    drop();
    node.forget(tenant.name());
    create();
    Duration unusedToo = node.runOnce();

    assertThat(fleet.caller().get("/api/v1/workers").text()).doesNotContain("\"old\"");
  }

  // A node that knew the old tenant finds out with the first job, and says to try again.
  private static String submitAnew(Fleet fleet) {
    Reply first = fleet.caller().post("/run-simulation", "{\"config_path\": \"demo.yaml\"}");
    assertThat(first.status()).as(first.text()).isEqualTo(409);
    assertThat(first.text()).contains("try again");
    return fleet.submit();
  }

  private void drop() {
    Reply reply = system.send("DELETE", "/api/v1/tenants/" + tenant.name(), Optional.empty());
    assertThat(reply.status()).as(reply.text()).isBetween(200, 204);
  }

  private void create() {
    Reply reply = system.post("/api/v1/tenants", "{\"name\": \"%s\"}".formatted(tenant.name()));
    assertThat(reply.status()).as(reply.text()).isEqualTo(201);
  }

  private Path others() {
    return TestServer.open().ownConfig().agents().directoryOfOthers();
  }

  private List<Path> asideOf(String prefix) throws IOException {
    try (Stream<Path> all = Files.list(others())) {
      return all.filter(
              each -> each.getFileName().toString().startsWith(prefix + tenant.name() + "-"))
          .toList();
    }
  }
}
