package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Json;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestPodman;
import dev.holdfast.testkit.Watched;
import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * examples/simulation: a server and an agent, as the commands start them, with containers of the
 * example's own image.
 */
@Covers({"C1", "C13", "C15", "C16"})
class SimulationExampleTest {

  private static final Path EXAMPLE = Path.of("../examples/simulation").toAbsolutePath();
  private static final Pattern ADDRESS = Pattern.compile("serves at (\\S+),");
  private static final String IMAGE = "localhost/holdfast-simulator:test";

  @TempDir Path directory;

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<Process> children = new ArrayList<>();
  private Path shared;
  private int port;

  @BeforeEach
  void start() throws Exception {
    makeImage();
    shared = Files.createDirectories(directory.resolve("shared"));
    port = startServer(0);
    children.add(
        command(
                "agent",
                "--dialect",
                "agents",
                "--server",
                "http://127.0.0.1:" + port,
                "--name",
                "here",
                "--shared-dir",
                shared.toString(),
                "--data",
                directory.resolve("agent").toString(),
                "--images",
                IMAGE,
                "--container-socket",
                TestPodman.shared().socket().toString(),
                "--container-network",
                "none")
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("agent.log").toFile())
            .start());
  }

  @AfterEach
  void stop() throws Exception {
    for (Process child : children.reversed()) {
      child.destroy();
      child.waitFor();
    }
    assertThat(TestPodman.shared().containers()).noneMatch(name -> name.startsWith("opeva_job"));
  }

  @Test
  void a_simulation_is_run_watched_and_stopped_and_outlives_a_restart_of_the_server()
      throws Exception {
    String id = run(20, "0.1");
    awaitStatus(id, "running");
    Watched.await(
        shared.resolve("jobs/" + id + "/progress/progress.json"),
        text -> Json.parse("progress", text).path("step").asInt(0) > 0);
    assertThat(get("/progress/" + id).path("step").asInt(0)).isPositive();
    assertThat(get("/hosts").path("hosts").path("here").path("info").has("load")).isTrue();
    children.removeFirst().destroyForcibly().waitFor();
    assertThat(startServer(port)).isEqualTo(port);

    awaitStatus(id, "finished");

    assertThat(get("/status/" + id).path("exit_code").asInt()).isZero();
    assertThat(get("/progress/" + id).path("progress").asInt()).isEqualTo(100);
    assertThat(get("/result/" + id).path("answer").asInt()).isEqualTo(42);
    String log = text("GET", "/logs/" + id, "");
    assertThat(log.lines().filter("step 1"::equals)).hasSize(1);
    assertThat(log).contains("simulating 20 steps", "step 20", "done");
    String longOne = run(100_000, "0.1");
    awaitStatus(longOne, "running");
    assertThat(text("POST", "/stop/" + longOne, "")).contains("Stop requested");
    awaitStatus(longOne, "stopped");
    assertThat(text("GET", "/logs/" + longOne, "")).contains("told to stop");
  }

  private String run(int steps, String pause) throws Exception {
    String body =
        """
        {"config": {"experiment": {"name": "demo", "run_name": "one"}, "steps": %d,
         "pause_seconds": %s}, "image": "%s"}
        """
            .formatted(steps, pause, IMAGE);
    return Json.parse("answer", text("POST", "/run-simulation", body)).path("job_id").stringValue();
  }

  // The file follows the database, and so does the answer.
  private void awaitStatus(String id, String status) throws Exception {
    Watched.await(
        shared.resolve("jobs/" + id + "/status.json"),
        text -> Json.parse("status", text).path("status").asString("").equals(status));
    assertThat(get("/status/" + id).path("status").asString("")).isEqualTo(status);
  }

  private JsonNode get(String path) throws Exception {
    return Json.parse("answer", text("GET", path, ""));
  }

  private String text(String method, String path, String body) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .method(
                method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (!body.isEmpty()) {
      request.header("Content-Type", "application/json");
    }
    HttpResponse<String> answer = http.send(request.build(), BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  private int startServer(int at) throws Exception {
    Process server =
        command(
                "server",
                "--port",
                String.valueOf(at),
                "--auth",
                "off",
                "--executors",
                "none",
                "--shared-dir",
                shared.toString(),
                "--data",
                directory.resolve("server").toString(),
                "--database-url",
                TestDatabase.shared().jdbcUrl())
            .redirectErrorStream(true)
            .start();
    children.addFirst(server);
    BufferedReader said = server.inputReader();
    List<String> lines = new ArrayList<>();
    for (String line = said.readLine(); line != null; line = said.readLine()) {
      lines.add(line);
      Matcher address = ADDRESS.matcher(line);
      if (address.find()) {
        Thread.ofVirtual().start(() -> said.lines().forEach(more -> {})); // or it would get stuck
        return URI.create(address.group(1)).getPort();
      }
    }
    throw new AssertionError("the server ended: " + lines);
  }

  private static ProcessBuilder command(String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command);
  }

  // As the example's own script does, in the tests' own storage.
  private void makeImage() throws Exception {
    TestPodman podman = TestPodman.shared();
    Path root = directory.resolve("image");
    Files.createDirectories(root.resolve("bin"));
    Files.createDirectories(root.resolve("tmp"));
    Path busybox =
        Files.isExecutable(Path.of("/bin/busybox"))
            ? Path.of("/bin/busybox")
            : Path.of("/usr/bin/busybox");
    Files.copy(busybox, root.resolve("bin/busybox"));
    for (String applet : List.of("sh", "cat", "echo", "head", "mkdir", "mv", "sed", "sleep")) {
      Files.createSymbolicLink(root.resolve("bin").resolve(applet), Path.of("busybox"));
    }
    Files.copy(
        EXAMPLE.resolve("simulate"),
        root.resolve("bin/simulate"),
        StandardCopyOption.COPY_ATTRIBUTES);
    Path archive = directory.resolve("image.tar");
    assertThat(
            new ProcessBuilder("tar", "-C", root.toString(), "-cf", archive.toString(), ".")
                .start()
                .waitFor())
        .isZero();
    podman.output(
        "import", "--change", "ENTRYPOINT [\"/bin/simulate\"]", archive.toString(), IMAGE);
  }
}
