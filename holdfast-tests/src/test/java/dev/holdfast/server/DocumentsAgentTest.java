package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A worker written from the document alone, in plain HTTP: it knows its server's address, its own
 * name, and what the document says.
 */
@Covers({"C5", "C9", "C11", "C14", "C15", "C17"})
class DocumentsAgentTest {

  @TempDir Path directory;
  @RegisterExtension final TestTenant tenant = new TestTenant();

  /** The document's main loop, one step at a time. */
  private static final class Agent {

    private static final JsonMapper JSON = new JsonMapper();

    private final HttpClient http = HttpClient.newHttpClient();
    private final String name;
    private String server = "";
    private JsonNode job = JSON.createObjectNode();

    Agent(String name) {
      this.name = name;
    }

    void at(String address) {
      server = address;
    }

    private HttpResponse<String> send(String method, String path, Map<String, Object> body)
        throws IOException, InterruptedException {
      return http.send(
          HttpRequest.newBuilder(URI.create(server + path))
              .method(
                  method,
                  body.isEmpty()
                      ? BodyPublishers.noBody()
                      : BodyPublishers.ofString(JSON.writeValueAsString(body)))
              .header("Content-Type", "application/json")
              .build(),
          BodyHandlers.ofString());
    }

    /** Steps 1 to 4: heartbeat, next-job, validate, start, report. */
    boolean takesAJob() throws IOException, InterruptedException {
      send(
          "POST",
          "/api/agent/heartbeat",
          Map.of("worker_id", name, "info", Map.of("load", 0.5, "active_jobs", 0)));
      HttpResponse<String> next = send("POST", "/api/agent/next-job", Map.of("worker_id", name));
      if (next.statusCode() == 204) {
        return false;
      }
      assertThat(next.statusCode()).isEqualTo(200);
      job = JSON.readTree(next.body());
      assertThat(data(job.path("config_path").asString())).isRegularFile();
      return true;
    }

    /** What the container calls /data is the volume's host directory. */
    Path data(String path) {
      return Path.of(job.path("volumes").get(0).path("host").asString()).resolve(path);
    }

    int says(String status, Map<String, Object> more) throws IOException, InterruptedException {
      Map<String, Object> body = new HashMap<>(more);
      body.put("job_id", id());
      body.put("status", status);
      body.put("worker_id", name);
      return send("POST", "/api/agent/job-status", body).statusCode();
    }

    int starts() throws IOException, InterruptedException {
      return says(
          "running",
          Map.of("container_id", "abc", "container_name", job.path("container_name").asString()));
    }

    void logs(String line) throws IOException {
      Path log = data("jobs/" + id() + "/logs/" + id() + ".log");
      Files.createDirectories(log.getParent());
      Files.writeString(log, line + "\n");
    }

    /** Step 5: by polling, and by reading the file. */
    boolean isAskedToStop() throws IOException, InterruptedException {
      String polled =
          JSON.readTree(send("GET", "/status/" + id(), Map.of()).body()).path("status").asString();
      String read =
          JSON.readTree(Files.readString(data("jobs/" + id() + "/status.json")))
              .path("status")
              .asString();
      assertThat(read).isEqualTo(polled);
      return polled.equals("stop_requested");
    }

    String id() {
      return job.path("job_id").asString();
    }
  }

  private TestServer node() {
    return TestServer.start(
        Fleet.open().withAgents(Fleet.open().agents().withDirectory(directory.resolve("shared"))));
  }

  private String address(TestServer server) {
    return "http://127.0.0.1:" + server.port() + "/t/" + tenant.name().value();
  }

  private static final String CONFIG =
      "{\"config\": {\"experiment\": {\"name\": \"Demo\", \"run_name\": \"Run1\"}}}";

  @Test
  void it_works_through_a_restart_of_the_server_a_stop_and_its_own_silence() throws Exception {
    Agent agent = new Agent("tiago-gpu");
    try (TestServer first = node()) {
      agent.at(address(first));
      assertThat(agent.takesAJob()).isFalse();
      String id = new Fleet(first, tenant).submit(CONFIG);
      assertThat(agent.takesAJob()).isTrue();
      assertThat(agent.id()).isEqualTo(id);
      assertThat(agent.starts()).isEqualTo(200);
      agent.logs("hello");
    }
    try (TestServer second = node()) {
      Fleet fleet = new Fleet(second, tenant);
      agent.at(address(second));

      // The job goes on where the server left it.
      assertThat(agent.isAskedToStop()).isFalse();
      assertThat(agent.says("running", Map.of())).isEqualTo(200);
      assertThat(fleet.caller().get("/logs/" + agent.id()).text()).isEqualTo("hello\n");
      assertThat(agent.says("finished", Map.of("exit_code", 0))).isEqualTo(200);
      assertThat(agent.says("finished", Map.of("exit_code", 0))).as("sent again").isEqualTo(200);
      assertThat(fleet.status(agent.id())).isEqualTo("finished");

      // A stop.
      fleet.submit(CONFIG);
      assertThat(agent.takesAJob()).isTrue();
      assertThat(agent.starts()).isEqualTo(200);
      fleet.caller().post("/stop/" + agent.id(), "");
      assertThat(agent.isAskedToStop()).isTrue();
      assertThat(agent.says("stopped", Map.of("exit_code", 137))).isEqualTo(200);
      assertThat(fleet.status(agent.id())).isEqualTo("stopped");

      // A container that fails.
      fleet.submit(CONFIG);
      assertThat(agent.takesAJob()).isTrue();
      assertThat(agent.starts()).isEqualTo(200);
      assertThat(
              agent.says(
                  "failed", Map.of("exit_code", 3, "error", "no GPU", "details", Map.of("gpu", 0))))
          .isEqualTo(200);
      JsonNode failed = fleet.json("jobs/" + agent.id() + "/status.json");
      assertThat(failed.path("exit_code").asInt()).isEqualTo(3);
      assertThat(failed.path("error").asString()).isEqualTo("no GPU");
      assertThat(failed.path("details").path("gpu").asInt()).isZero();

      // Silence, and the zombie that comes back from it.
      fleet.submit(CONFIG);
      assertThat(agent.takesAJob()).isTrue();
      assertThat(agent.starts()).isEqualTo(200);
      tenant.advance(Duration.ofSeconds(301));
      fleet.reap();
      assertThat(agent.says("running", Map.of())).isEqualTo(409);
      assertThat(agent.says("finished", Map.of("exit_code", 0))).isEqualTo(409);
      assertThat(fleet.status(agent.id())).isEqualTo("failed");
      fleet.caller().post("/ops/jobs/" + agent.id() + "/requeue", "{\"force\": true}");
      Agent fresh = new Agent("other");
      fresh.at(address(second));
      assertThat(fresh.takesAJob()).isTrue();
      assertThat(fresh.id()).isEqualTo(agent.id());
      assertThat(agent.starts()).as("the zombie").isEqualTo(409);
      assertThat(fresh.starts()).isEqualTo(200);
      assertThat(fresh.says("finished", Map.of("exit_code", 0))).isEqualTo(200);
      assertThat(tenant.invariants().check()).isEmpty();
    }
  }
}
