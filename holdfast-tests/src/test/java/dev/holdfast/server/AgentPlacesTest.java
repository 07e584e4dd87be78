package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A tenant's containers are given its whole directory, so no other tenant's may be in that. */
class AgentPlacesTest {

  private static TestServer server;

  @RegisterExtension final TestTenant one = new TestTenant();
  @RegisterExtension final TestTenant other = new TestTenant();

  @BeforeAll
  static void start() {
    server = TestServer.start(Fleet.open());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void no_tenants_directory_is_within_anothers() throws IOException {
    Path ofDefault =
        Files.createDirectories(settings().directoryOf(TenantName.DEFAULT)).toRealPath();
    List<Path> places = List.of(ofDefault, mounted(one), mounted(other));

    for (Path place : places) {
      assertThat(places.stream().filter(each -> each.startsWith(place))).containsExactly(place);
    }
  }

  private static Path mounted(TestTenant tenant) {
    Fleet fleet = new Fleet(server, tenant);
    fleet.submit();
    return Path.of(fleet.next("a").json().path("volumes").path(0).path("host").asString());
  }

  @Test
  void files_where_an_earlier_version_had_them_are_to_be_moved_before_a_start() throws IOException {
    Path before = settings().directory().resolve("tenants").resolve(one.name().value());
    Files.createDirectories(before.resolve("jobs"));
    var agents = server.server().agents();

    assertThatThrownBy(() -> agents.requireMoved(one.name()))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("move " + before)
        .hasMessageContaining(settings().directoryOf(one.name()).toString());

    agents.requireMoved(other.name());
    Files.createDirectories(settings().directoryOf(one.name()).getParent());
    Files.move(before, settings().directoryOf(one.name()));
    agents.requireMoved(one.name());
  }

  @Covers("C2")
  @Test
  void the_documented_directory_is_the_usual_one_where_there_is_one(@TempDir Path machine)
      throws IOException {
    Path data = machine.resolve("data");
    Path documented = machine.resolve("opt");

    assertThat(UsualSharedDirectory.of(data, documented)).isEqualTo(data.resolve("shared"));
    Files.createDirectory(documented);
    assertThat(UsualSharedDirectory.of(data, documented)).isEqualTo(documented);
    assertThat(UsualSharedDirectory.of(data, documented)).as("once more").isEqualTo(documented);
  }

  @ParameterizedTest
  @ValueSource(strings = {"shared", "shared-tenants"})
  void a_server_that_has_a_directory_of_its_own_keeps_it(String own, @TempDir Path machine)
      throws IOException {
    Path data = machine.resolve("data");
    Path documented = Files.createDirectory(machine.resolve("opt"));
    Files.createDirectories(data.resolve(own));

    assertThat(UsualSharedDirectory.of(data, documented)).isEqualTo(data.resolve("shared"));
  }

  @Test
  void no_server_takes_the_documented_directory_of_another_one_unasked(@TempDir Path machine)
      throws IOException {
    Path documented = Files.createDirectory(machine.resolve("opt"));
    Path unused = UsualSharedDirectory.of(machine.resolve("data"), documented);

    assertThatThrownBy(() -> UsualSharedDirectory.of(machine.resolve("copy"), documented))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("shared-dir")
        .hasMessageContaining(machine.resolve("data").toString());
  }

  private static AgentSettings settings() {
    return server.ownConfig().agents();
  }
}
