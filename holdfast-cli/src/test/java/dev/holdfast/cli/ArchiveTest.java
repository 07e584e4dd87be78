package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive that people download: what is in it fits together, and it runs where it is put. */
class ArchiveTest {

  private static final String VERSION = System.getProperty("holdfast.version", "");
  private static final Pattern SERVES = Pattern.compile("serves at (http://127\\.0\\.0\\.1:\\d+)");

  @TempDir private static Path directory;
  private static Path home;

  @BeforeAll
  static void unpack() throws Exception {
    Path archive = Path.of("target", "holdfast-" + VERSION + ".tar.gz").toAbsolutePath();
    assertThat(run(directory, "tar", "xzf", archive.toString())).isEmpty();
    home = directory.resolve("holdfast-" + VERSION);
  }

  @Test
  void it_has_all_that_its_readme_speaks_of() throws IOException {
    Matcher files =
        Pattern.compile("`((?:bin|docs|systemd)/[\\w./-]+|Dockerfile)`")
            .matcher(Files.readString(home.resolve("README.md")));

    assertThat(files.results().map(found -> home.resolve(found.group(1))))
        .hasSizeGreaterThan(3)
        .allMatch(Files::exists);
    assertThat(home.resolve("bin").resolve("holdfast")).isExecutable();
    assertThat(home.resolve("LICENSE")).exists();
  }

  // CycloneDX, for those who are asked which of their programs have a certain library in them.
  @Test
  void it_has_a_list_of_all_that_is_in_it_by_name_and_version() throws IOException {
    Path file = home.resolve("holdfast.cdx.json");
    boolean isOffline = "offline is true".equals(System.getProperty("holdfast.maven"));
    assumeFalse(
        isOffline && !Files.exists(file), "What makes the list does not do so without a network");
    String sbom = Files.readString(file);
    assertThat(sbom).contains("\"bomFormat\" : \"CycloneDX\"");
    List<String> missing = new ArrayList<>();
    try (var jars = Files.list(home.resolve("lib"))) {
      for (Path jar : jars.toList()) {
        Matcher name = Pattern.compile("(.+?)-(\\d.*)\\.jar").matcher(jar.getFileName().toString());
        if (name.matches() && !sbom.contains("/" + name.group(1) + "@" + version(name.group(2)))) {
          missing.add(jar.getFileName().toString());
        }
      }
    }
    assertThat(missing).isEmpty();
    assertThat(sbom)
        .contains("pkg:maven/org.postgresql/postgresql@", "pkg:maven/io.javalin/javalin@")
        .doesNotContain("junit", "assertj", "holdfast-testkit");
  }

  // A jar of its own for each system has that system's name at its end.
  private static String version(String rest) {
    return rest.replaceFirst("-(linux|windows|darwin|osx|mac).*", "");
  }

  @Test
  void there_is_a_zip_with_the_same_in_it() throws Exception {
    Path zip = Path.of("target", "holdfast-" + VERSION + ".zip").toAbsolutePath();
    List<String> zipped;
    try (var files = new java.util.zip.ZipFile(zip.toFile())) {
      zipped =
          files.stream()
              .filter(entry -> !entry.isDirectory())
              .map(entry -> entry.getName())
              .toList();
    }
    try (var files = Files.walk(home)) {
      assertThat(zipped)
          .containsExactlyInAnyOrderElementsOf(
              files
                  .filter(Files::isRegularFile)
                  .map(file -> directory.relativize(file).toString())
                  .toList());
    }
  }

  @Test
  void the_dockerfile_copies_what_is_there_and_runs_it_as_an_ordinary_user() throws IOException {
    List<String> lines =
        Files.readString(home.resolve("Dockerfile")).replace("\\\n", " ").lines().toList();
    for (String copy : starting(lines, "COPY ")) {
      List<String> paths = Arrays.asList(copy.split("\\s+"));
      for (String source : paths.subList(0, paths.size() - 1)) {
        assertThat(home.resolve(source)).exists();
      }
    }
    String user = starting(lines, "USER ").getLast();
    assertThat(user).isNotIn("root", "0");
    assertThat(starting(lines, "RUN "))
        .anyMatch(run -> run.contains("useradd") && run.endsWith(user));
    assertThat(starting(lines, "COPY ")).anyMatch(copy -> copy.equals("bin/ /opt/holdfast/bin/"));
    assertThat(starting(lines, "ENTRYPOINT ")).containsExactly("[\"/opt/holdfast/bin/holdfast\"]");
    assertThat(starting(lines, "CMD ")).containsExactly("[\"server\"]");
  }

  @Test
  void the_unit_runs_the_script_as_an_ordinary_user_and_lets_it_drain() throws IOException {
    Map<String, String> unit =
        Files.readString(home.resolve("systemd/holdfast.service"))
            .lines()
            .filter(line -> line.matches("\\w+=.*"))
            .collect(
                Collectors.toMap(
                    line -> line.split("=", 2)[0], line -> line.split("=", 2)[1], (a, b) -> b));

    assertThat(unit)
        .containsEntry("ExecStart", "/opt/holdfast/bin/holdfast server")
        .containsEntry("KillMode", "mixed")
        .containsEntry("User", "holdfast")
        .containsEntry("NoNewPrivileges", "yes")
        .containsEntry("ProtectSystem", "strict")
        .doesNotContainKey("MemoryDenyWriteExecute"); // Java compiles as it runs
    assertThat(Integer.parseInt(unit.getOrDefault("TimeoutStopSec", "0"))).isGreaterThan(300);
  }

  @Test
  void it_says_its_version_from_anywhere_and_through_a_link() throws Exception {
    Path link = Files.createSymbolicLink(directory.resolve("hf"), home.resolve("bin/holdfast"));

    assertThat(run(directory, link.toString(), "--version")).isEqualTo("holdfast " + VERSION);
  }

  @Test
  void a_server_from_it_runs_a_job_and_ends_when_it_is_told_to() throws Exception {
    Path work = Files.createDirectory(directory.resolve("work"));
    Path script = home.resolve("bin/holdfast");
    Process server =
        new ProcessBuilder(script.toString(), "server", "--port", "0")
            .directory(work.toFile())
            .redirectError(directory.resolve("server.log").toFile())
            .start();
    try (BufferedReader out = server.inputReader()) {
      Matcher serves = SERVES.matcher(out.readLine());
      assertThat(serves.find()).isTrue();
      String address = serves.group(1);

      assertThat(run(work, script.toString(), "run", "--server", address, "--", "echo", "hello"))
          .isEqualTo("hello");
      assertThat(run(work, script.toString(), "doctor", "--server", address)).contains("ok");
      assertThat(run(work, script.toString(), "backup", work.resolve("backup").toString()))
          .contains("has a backup");
      server.destroy();
      assertThat(server.waitFor()).isEqualTo(143);
      assertThat(work.resolve("holdfast-data/database/postmaster.pid")).doesNotExist();
    } finally {
      server.destroyForcibly();
    }
  }

  // Jobs of the same user could read it there.
  @Test
  void an_agent_from_it_does_not_keep_its_token_in_its_environment() throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
                home.resolve("bin/holdfast").toString(), "agent", "--server", "http://127.0.0.1:9")
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("agent.log").toFile());
    builder.environment().put("HOLDFAST_TOKEN", "token-that-nobody-sees");
    Process agent = builder.start();
    try {
      Path process = Path.of("/proc/" + agent.pid());
      long untilNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (!Files.readSymbolicLink(process.resolve("exe")).endsWith("java")) {
        assertThat(System.nanoTime()).isLessThan(untilNanos);
        Thread.onSpinWait();
      }
      assertThat(Files.readString(process.resolve("environ")))
          .contains("HOLDFAST_TOKEN_FILE=/dev/fd/3")
          .doesNotContain("token-that-nobody-sees");
      assertThat(Files.readString(process.resolve("cmdline")))
          .doesNotContain("token-that-nobody-sees");
    } finally {
      agent.destroyForcibly().waitFor();
    }
  }

  private static List<String> starting(List<String> lines, String word) {
    return lines.stream()
        .filter(line -> line.startsWith(word))
        .map(line -> line.substring(word.length()).strip())
        .toList();
  }

  /** What it says, once it has ended well. */
  private static String run(Path where, String... command) throws Exception {
    List<String> all = new ArrayList<>(List.of(command));
    Process process =
        new ProcessBuilder(all).directory(where.toFile()).redirectErrorStream(true).start();
    String said =
        new String(
            process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said.strip();
  }
}
