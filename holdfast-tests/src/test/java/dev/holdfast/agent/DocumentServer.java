package dev.holdfast.agent;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import tools.jackson.databind.node.ObjectNode;

/**
 * A server that was written from the document on jobs and workers, and from nothing else: it hands
 * out jobs, remembers their statuses, and refuses transitions that the document does not have. It
 * knows nothing of Holdfast.
 */
final class DocumentServer implements AutoCloseable {

  private static final Map<String, Set<String>> ALLOWED =
      Map.of(
          "queued", Set.of("dispatched", "canceled"),
          "dispatched", Set.of("running", "failed", "canceled", "stop_requested", "queued"),
          "running", Set.of("finished", "failed", "stop_requested", "stopped", "canceled"),
          "stop_requested", Set.of("stopped", "failed", "canceled"));

  private final HttpServer http;
  private final Deque<ObjectNode> queue = new ArrayDeque<>();
  private final Map<String, ObjectNode> statuses = new ConcurrentHashMap<>();
  private final Map<String, List<String>> paths = new ConcurrentHashMap<>();
  private final Map<String, ObjectNode> hosts = new ConcurrentHashMap<>();
  private final Set<String> unheard = ConcurrentHashMap.newKeySet();
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private volatile boolean failing;

  DocumentServer() throws IOException {
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.createContext("/", this::handle);
    http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    http.start();
  }

  String url() {
    return "http://127.0.0.1:" + http.getAddress().getPort();
  }

  synchronized void add(ObjectNode payload) {
    String id = payload.get("job_id").stringValue();
    statuses.put(id, Json.object().put("job_id", id).put("status", "queued"));
    paths.put(id, new ArrayList<>(List.of("queued")));
    queue.add(payload);
  }

  synchronized void stop(String id) {
    move(id, "stop_requested");
  }

  /** From now on a worker that asks for a job when there is none gets an error. */
  void failWhenEmpty() {
    failing = true;
  }

  /** The next report on a job gets an error. */
  void failOnce(String id) {
    unheard.add(id);
  }

  synchronized String status(String id) {
    return known(id).get("status").stringValue();
  }

  synchronized ObjectNode all(String id) {
    return known(id).deepCopy();
  }

  /** The statuses that it had, each once. */
  synchronized List<String> path(String id) {
    return List.copyOf(paths.get(id));
  }

  /** What workers asked about jobs, in order. */
  List<String> asked() {
    return asked.stream().filter(path -> !path.endsWith("heartbeat")).toList();
  }

  Map<String, ObjectNode> hosts() {
    return hosts;
  }

  private synchronized void handle(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    if (path.startsWith("/status/")) {
      ObjectNode status = statuses.get(path.substring("/status/".length()));
      answer(exchange, status == null ? 404 : 200, status == null ? Json.object() : status);
      return;
    }
    asked.add(path);
    Fields said = Fields.of("body", Json.parse("body", body));
    switch (path) {
      case "/api/agent/next-job" -> next(exchange, said);
      case "/api/agent/job-status" -> report(exchange, said);
      case "/api/agent/heartbeat" -> {
        hosts.put(said.text("worker_id"), said.object("info").json());
        answer(exchange, 200, Json.object().put("ok", true));
      }
      default -> answer(exchange, 404, Json.object());
    }
  }

  private void next(HttpExchange exchange, Fields said) throws IOException {
    ObjectNode payload = queue.poll();
    if (payload == null) {
      exchange.sendResponseHeaders(failing ? 500 : 204, -1);
      exchange.close();
      return;
    }
    String id = payload.get("job_id").stringValue();
    move(id, "dispatched");
    known(id).put("worker_id", said.text("worker_id"));
    answer(exchange, 200, payload);
  }

  private void report(HttpExchange exchange, Fields said) throws IOException {
    String id = said.text("job_id");
    if (unheard.remove(id)) {
      answer(exchange, 500, Json.object());
      return;
    }
    String from = known(id).get("status").stringValue();
    String to = said.text("status");
    if (!from.equals(to) && !ALLOWED.getOrDefault(from, Set.of()).contains(to)) {
      answer(exchange, 409, Json.object().put("detail", from + " cannot become " + to));
      return;
    }
    move(id, to);
    known(id).setAll(said.json());
    answer(exchange, 200, Json.object().put("ok", true));
  }

  private void move(String id, String to) {
    known(id).put("status", to);
    List<String> path = Objects.requireNonNull(paths.get(id));
    if (!path.getLast().equals(to)) {
      path.add(to);
    }
  }

  private ObjectNode known(String id) {
    return Objects.requireNonNull(statuses.get(id), id);
  }

  private static void answer(HttpExchange exchange, int status, ObjectNode json)
      throws IOException {
    byte[] bytes = Json.write(json).getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Override
  public void close() {
    http.stop(0);
  }
}
