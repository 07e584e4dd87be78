package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Json;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.TestTenant;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A node, the directory that it shares, and agents that speak to it: for one tenant's tests. */
record Fleet(TestServer server, TestTenant tenant) {

  Caller caller() {
    return new Caller(server.port(), Optional.empty(), Optional.of(tenant.name()));
  }

  static ServerConfig open() {
    return TestServer.config().withAuth(false);
  }

  Path directory() {
    return server.ownConfig().agents().directoryOf(tenant.name());
  }

  Path file(String path) {
    return directory().resolve(path);
  }

  JsonNode json(String path) {
    try {
      return Json.parse("file", Files.readString(file(path)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String submit() {
    return submit("{\"config_path\": \"demo.yaml\"}");
  }

  String submit(String json) {
    Reply reply = caller().post("/run-simulation", json);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json().path("job_id").asString();
  }

  Reply next(String worker) {
    return caller().post("/api/agent/next-job", "{\"worker_id\": \"" + worker + "\"}");
  }

  /** The job that an agent is given, which must be one. */
  String take(String worker) {
    Reply reply = next(worker);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json().path("job_id").asString();
  }

  Reply report(String worker, String id, String status) {
    return report(worker, id, status, Json.object());
  }

  Reply report(String worker, String id, String status, ObjectNode more) {
    ObjectNode json = more.put("job_id", id).put("status", status).put("worker_id", worker);
    return caller().post("/api/agent/job-status", Json.write(json));
  }

  Reply beat(String worker) {
    return caller()
        .post(
            "/api/agent/heartbeat",
            "{\"worker_id\": \"" + worker + "\", \"info\": {\"load\": 0.5, \"version\": \"1\"}}");
  }

  String running(String worker) {
    String id = take(worker);
    assertThat(report(worker, id, "running").status()).isEqualTo(200);
    return id;
  }

  String status(String id) {
    return caller().get("/status/" + id).json().path("status").asString();
  }

  /** What all nodes do by themselves, now. */
  void reap() {
    tenant.reap();
    server.server().agents().follow(tenant.name());
  }

  void set(String setting, int seconds) {
    Reply reply = caller().put("/api/v1/settings/" + setting, "{\"value\": " + seconds + "}");
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
  }
}
