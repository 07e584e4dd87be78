package dev.holdfast.server.dialect.agents;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.files.SharedDirectory;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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

  @Test
  @Timeout(60)
  void a_pipe_in_place_of_a_file_or_a_directory_holds_nobody_up() throws Exception {
    Files.createDirectory(inside.resolve("jobs"));
    pipe(inside.resolve("jobs/a"));
    pipe(inside.resolve("status.json"));

    assertThat(shared.open(List.of("status.json"))).isEmpty();
    assertThat(shared.key(List.of("status.json"))).isEmpty();
    assertThatThrownBy(() -> shared.write(List.of("jobs", "a", "status.json"), new byte[1]))
        .isInstanceOf(NotDirectoryException.class);
    assertThatThrownBy(() -> shared.open(List.of("jobs", "a", "logs", "a.log")))
        .isInstanceOf(NotDirectoryException.class);
    assertThatThrownBy(() -> shared.list(List.of("jobs", "a")))
        .isInstanceOf(NotDirectoryException.class);
    assertThatThrownBy(() -> shared.make(List.of("jobs", "a")))
        .isInstanceOf(NotDirectoryException.class);
    shared.write(List.of("status.json"), "ours".getBytes(UTF_8));
    shared.deleteAll(List.of("jobs"));

    assertThat(inside.resolve("status.json")).isRegularFile().hasContent("ours");
    assertThat(inside.toFile().list()).containsExactly("status.json");
  }

  private static void pipe(Path path) throws Exception {
    assertThat(new ProcessBuilder("mkfifo", path.toString()).start().waitFor()).isZero();
  }

  @Test
  void what_has_another_name_elsewhere_is_replaced_here_and_stays_as_it_is_there()
      throws IOException {
    Files.createLink(inside.resolve("status.json"), outside.resolve("secret"));

    shared.write(List.of("status.json"), "ours".getBytes(UTF_8));
    shared.deleteAll(List.of("status.json"));

    assertThat(outside.resolve("secret")).hasContent("secret");
  }

  @Test
  void directories_in_directories_without_end_do_not_use_up_what_the_server_may_open()
      throws IOException {
    Path deep = inside.resolve("jobs");
    for (int level = 0; level < 210; level++) {
      deep = deep.resolve("d");
    }
    Files.createDirectories(deep);

    assertThatThrownBy(() -> shared.deleteAll(List.of("jobs")))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("levels deep");
  }

  @Test
  void a_name_that_no_file_system_takes_is_a_failure_and_leaves_nothing() {
    assertThatThrownBy(() -> shared.write(List.of("x".repeat(5_000)), new byte[1]))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> shared.make(List.of("y".repeat(5_000))))
        .isInstanceOf(IOException.class);

    assertThat(inside).isEmptyDirectory();
  }

  // The system follows links in all parts of a name but the last.
  @Test
  void a_name_of_several_parts_is_none() throws IOException {
    Files.createDirectory(inside.resolve("queue"));
    Files.createSymbolicLink(inside.resolve("queue/link"), outside);

    for (String name : List.of("link/secret", "link/", "../secret", "..", ".", "", "/", "a\0b")) {
      List<String> path = List.of("queue", name);
      assertRefused(name, () -> shared.write(path, new byte[1]));
      assertRefused(name, () -> shared.append(path, new byte[1]));
      assertRefused(name, () -> shared.writeIfOther(path, new byte[1]));
      assertRefused(name, () -> shared.read(path, 10));
      assertRefused(name, () -> shared.open(path));
      assertRefused(name, () -> shared.key(path));
      assertRefused(name, () -> shared.delete(path));
      assertRefused(name, () -> shared.deleteAll(path));
      assertRefused(name, () -> shared.list(path));
      assertRefused(name, () -> shared.make(path));
      assertRefused(name, () -> shared.write(List.of("queue", name, "x"), new byte[1]));
    }
    for (Path absolute : List.of(outside.resolve("secret"), outside.resolve("new"))) {
      assertRefused("absolute", () -> shared.write(List.of(absolute.toString()), new byte[1]));
      assertRefused("absolute", () -> shared.delete(List.of(absolute.toString())));
    }

    assertThat(outside.resolve("secret")).hasContent("secret");
    assertThat(outside.toFile().list()).hasSize(1);
    assertThat(inside.resolve("queue").toFile().list()).containsExactly("link");
  }

  private static void assertRefused(String name, ThrowingCallable access) {
    assertThatThrownBy(access)
        .as("<%s>", name)
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("not the name of one entry");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\uff0e\uff0e/x",
        "a\uff0fb",
        "a\u2215b",
        "a\u2044b",
        "\u2024\u2024/x",
        "a\u202eb",
        "a\u200bb",
        "a\u00a0b",
        "%2e%2e/x",
        "~/x",
        "a;b",
        "a|b",
        "a&b",
        "a`b`",
        "a*b",
        "configs/configs/../x",
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
