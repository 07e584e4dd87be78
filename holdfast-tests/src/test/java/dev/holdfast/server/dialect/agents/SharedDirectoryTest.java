package dev.holdfast.server.dialect.agents;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nothing outside of the shared directory is read or written, wherever links lead. */
class SharedDirectoryTest {

  @TempDir Path place;
  private Path inside;
  private Path outside;
  private SharedDirectory shared;

  @BeforeEach
  void make() throws IOException {
    inside = place.resolve("inside");
    outside = Files.createDirectory(place.resolve("outside"));
    Files.writeString(outside.resolve("secret"), "secret");
    shared = SharedDirectory.at(inside);
  }

  @Test
  void a_file_is_replaced_whole_and_nothing_else_is_left() throws IOException {
    shared.write(List.of("jobs", "a", "status.json"), "one".getBytes(UTF_8));
    shared.write(List.of("jobs", "a", "status.json"), "two".getBytes(UTF_8));

    assertThat(inside.resolve("jobs/a/status.json")).hasContent("two");
    assertThat(shared.list(List.of("jobs", "a"))).containsExactly("status.json");
    assertThat(shared.writeIfOther(List.of("jobs", "a", "status.json"), "two".getBytes(UTF_8)))
        .isFalse();
  }

  @Test
  void a_directory_that_is_a_link_is_not_entered() throws IOException {
    Files.createSymbolicLink(inside.resolve("jobs"), outside);

    assertThatThrownBy(() -> shared.write(List.of("jobs", "x"), new byte[1]))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> shared.read(List.of("jobs", "secret"), 10))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> shared.list(List.of("jobs"))).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> shared.delete(List.of("jobs", "secret")))
        .isInstanceOf(IOException.class);
    assertThat(outside).isDirectoryContaining(path -> path.endsWith("secret"));
    assertThat(outside.toFile().list()).hasSize(1);
  }

  @Test
  void a_file_that_is_a_link_is_not_read_and_is_replaced_where_it_stands() throws IOException {
    Files.createSymbolicLink(inside.resolve("status.json"), outside.resolve("secret"));

    assertThat(shared.read(List.of("status.json"), 10)).isEmpty();
    shared.write(List.of("status.json"), "ours".getBytes(UTF_8));

    assertThat(outside.resolve("secret")).hasContent("secret");
    assertThat(inside.resolve("status.json")).isRegularFile().hasContent("ours");
    assertThat(Files.isSymbolicLink(inside.resolve("status.json"))).isFalse();
  }

  @Test
  void deleting_a_directory_deletes_links_and_not_what_they_lead_to() throws IOException {
    Path job = Files.createDirectories(inside.resolve("jobs/a/deep/er"));
    Files.createSymbolicLink(job.resolve("out"), outside);
    Files.writeString(job.resolve("file"), "x");

    shared.deleteAll(List.of("jobs", "a"));
    shared.deleteAll(List.of("jobs", "a"));

    assertThat(inside.resolve("jobs")).isEmptyDirectory();
    assertThat(outside.resolve("secret")).hasContent("secret");
  }

  @Test
  void what_is_no_file_is_not_opened() throws IOException {
    Files.createDirectory(inside.resolve("directory"));

    assertThat(shared.open(List.of("directory"))).isEmpty();
    assertThat(shared.open(List.of("nothing"))).isEmpty();
    assertThat(shared.open(List.of("no", "such", "place"))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../etc/passwd",
        "configs/../../x",
        "/etc/passwd",
        "a//b",
        "a/",
        "",
        ".",
        "..",
        "configs/",
        ".hidden",
        "a/.b",
        "a.yaml --privileged",
        "-v",
        "a\u0000b",
        "a\nb",
        "a\\b",
        "$(x)",
        "a'b"
      })
  void paths_that_leave_the_configurations_or_their_word_are_refused(String path) {
    assertThatThrownBy(() -> ConfigPath.of("config_path", path))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("config_path");
  }

  @Test
  void a_path_is_the_same_file_with_the_directory_before_it_or_without() {
    assertThat(ConfigPath.of("config_path", "demo.yaml"))
        .isEqualTo(ConfigPath.of("config_path", "configs/demo.yaml"))
        .hasToString("configs/demo.yaml");
    assertThat(ConfigPath.of("config_path", "team/demo.yaml"))
        .hasToString("configs/team/demo.yaml");
  }
}
