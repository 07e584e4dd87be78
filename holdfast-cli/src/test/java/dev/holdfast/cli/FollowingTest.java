package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobState;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** A job goes on when its server cannot be asked, and when nobody reads what it says. */
class FollowingTest {

  private static final UUID ID = UUID.randomUUID();
  private static final Duration PAUSE = Duration.ofMillis(10);

  private final Deque<String> states = new ArrayDeque<>(); // how it is next time, or an HTTP status
  private final List<String> asked = new ArrayList<>();
  private final StringWriter said = new StringWriter();

  private HttpServer http;
  private HoldfastClient client;

  @BeforeEach
  void start() throws IOException {
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.createContext("/", this::answer);
    http.start();
    client = HoldfastClient.at(url());
  }

  @AfterEach
  void stop() {
    client.close();
    http.stop(0);
  }

  @Test
  void questions_without_an_answer_are_asked_again() throws InterruptedException {
    states.addAll(List.of("queued", "503", "429", "500", "queued", "succeeded"));

    Following following = new Following(ID, log(new PrintWriter(said)), PAUSE);

    assertThat(following.toTheEnd().state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(said.toString()).isEqualToIgnoringNewLines("only line");
  }

  @Test
  void who_gives_up_says_that_the_job_goes_on() {
    states.add("503");

    Following following = new Following(ID, log(new PrintWriter(said)), PAUSE, Duration.ZERO);

    assertThatThrownBy(following::toTheEnd)
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("job " + ID + " goes on")
        .hasMessageContaining("holdfast jobs logs -f " + ID);
  }

  @Test
  void a_log_that_nobody_reads_any_more_is_not_followed() throws InterruptedException {
    states.add("queued");

    Following following = new Following(ID, log(new PrintWriter(new Closed())), PAUSE);

    following.whileRead();

    assertThat(asked).filteredOn(each -> each.endsWith("/logs")).hasSize(1);
  }

  @Test
  void a_run_whose_output_goes_nowhere_has_the_exit_code_of_its_command() throws Exception {
    states.addAll(List.of("queued", "queued", "failed"));

    Process run = run(new ProcessBuilder().redirectOutput(new File("/dev/full")));
    String printed = new String(run.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(run.waitFor()).as(printed).isEqualTo(7);
    assertThat(printed).contains("not all of it could be printed").contains(ID.toString());
    assertThat(asked).filteredOn(each -> each.endsWith("/logs")).hasSize(1);
  }

  @Test
  void a_run_that_ends_by_itself_cancels_nothing() throws Exception {
    states.add("403");

    Process run = run(new ProcessBuilder().redirectErrorStream(true));
    String printed = new String(run.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(run.waitFor()).as(printed).isEqualTo(Exit.NOT_ALLOWED.code());
    assertThat(asked).contains("POST /api/v1/jobs").noneMatch(each -> each.endsWith("/cancel"));
  }

  private Process run(ProcessBuilder run) throws IOException {
    return run.command(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName(),
            "run",
            "--server",
            url(),
            "--",
            "true")
        .start();
  }

  private String url() {
    return "http://127.0.0.1:" + http.getAddress().getPort();
  }

  private JobLog log(PrintWriter out) {
    return new JobLog(client, ID, out, Remote.Output.TABLE);
  }

  private synchronized void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    asked.add(exchange.getRequestMethod() + " " + path);
    if (path.endsWith("/logs")) {
      send(exchange, 200, logs(exchange.getRequestURI().getQuery().contains("offset=0")));
    } else if (exchange.getRequestMethod().equals("POST")) {
      send(exchange, 201, job("queued"));
    } else {
      String next = states.size() > 1 ? states.remove() : states.element();
      boolean isStatus = next.matches("\\d+");
      send(exchange, isStatus ? Integer.parseInt(next) : 200, job(next));
    }
  }

  private static ObjectNode logs(boolean fromTheStart) {
    ObjectNode json = Json.object().put("next_offset", 9);
    json.putArray("logs");
    if (fromTheStart) {
      json.withArray("logs")
          .addObject()
          .put("at", "2026-01-01T00:00:00Z")
          .put("fence", 1)
          .put("line", "only line");
    }
    return json;
  }

  private static ObjectNode job(String state) {
    ObjectNode json =
        Json.object()
            .put("id", ID.toString())
            .put("kind", "process")
            .put("queue", "default")
            .put("state", state)
            .put("fence", 1)
            .put("run_at", "2026-01-01T00:00:00Z")
            .put("created_at", "2026-01-01T00:00:00Z");
    if (List.of("succeeded", "failed").contains(state)) {
      json.put("finished_at", "2026-01-01T00:00:00Z");
    }
    if (state.equals("failed")) {
      json.put("error_code", "EXIT_7");
    }
    json.putArray("tags");
    json.putArray("resources");
    json.putObject("usage").put("input_tokens", 0).put("output_tokens", 0);
    return json;
  }

  private static void send(HttpExchange exchange, int status, ObjectNode json) throws IOException {
    byte[] bytes = Json.write(json).getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  /** The end of a pipe that nobody reads. */
  private static final class Closed extends Writer {
    @Override
    public void write(char[] text, int offset, int length) throws IOException {
      throw new IOException("Broken pipe");
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
