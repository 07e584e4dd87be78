package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Route;
import dev.holdfast.tenant.TenantName;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * One of everything in a tenant, each with a word in it that stands nowhere else. Whoever is shown
 * that word got through the wall. The things' own names and ids are others, because whoever asks
 * for one by its name may be told that there is none of that name.
 */
final class Canaries {

  private final Caller system;
  private final String word;
  private final String target = UUID.randomUUID().toString();
  private final String job;
  private final String targetJob;
  private final String agentJob;
  private final String token;

  private Canaries(Caller system, String word) {
    this.system = system;
    this.word = word;
    put("PUT", "queues/the_queue", "{\"paused\": true}");
    put("PUT", "queues/" + word, "{\"concurrency_limit\": 7}");
    put("PUT", "resources/the_resource", "{\"capacity\": 1}");
    put("PUT", "resources/" + word, "{\"capacity\": 3}");
    put(
        "PUT",
        "kinds/the_kind",
        "{\"executor\": \"process\", \"settings\": {\"argv\": [\"echo\", \"%s\"]}}"
            .formatted(word));
    put("PUT", "nodes/the_node", "{\"host\": \"%s.example\"}".formatted(word));
    put(
        "PUT",
        "schedules/the_schedule",
        "{\"cron\": \"0 0 29 2 *\", \"kind\": \"%s\"}".formatted(word));
    put("POST", "schedules/the_schedule/trigger", "{\"reason\": \"%s\"}".formatted(word));
    put(
        "PUT",
        "webhooks/the_webhook",
        "{\"url\": \"https://example.org/%s\", \"events\": [\"job_failed\"], \"secret\": \"%s\"}"
            .formatted(word, "a secret " + word));
    this.job =
        put(
            "POST",
            "jobs",
            """
            {"kind": "%1$s", "queue": "%1$s", "args": "%1$s", "tags": ["%1$s"],
             "resources": ["%1$s"], "subject": {"type": "site", "id": "the_subject",
             "during": "%1$s"}}
            """
                .formatted(word));
    work();
    this.targetJob =
        id(
            system.post(
                "/targets/" + target + "/jobs/",
                "{\"api_name\": \"%1$s\", \"parameters\": {\"a\": \"%1$s\"}}".formatted(word)),
            "id");
    this.agentJob =
        id(
            system.post(
                "/run-simulation",
                "{\"config\": {\"a\": \"%1$s\"}, \"job_name\": \"%1$s\"}".formatted(word)),
            "job_id");
    this.token =
        id(
            system.post(
                "/api/v1/tokens", "{\"name\": \"%s\", \"role\": \"viewer\"}".formatted(word)),
            "id");
  }

  static Canaries in(TestServer server, TenantName tenant, String word) {
    return new Canaries(server.as(Role.SYSTEM, tenant), word);
  }

  // Runs, has a log, and so is a worker known.
  private void work() {
    Reply claimed =
        system.post(
            "/api/v1/leases",
            "{\"worker\": \"the_worker\", \"queues\": [\"%s\"], \"limit\": 1, \"lease_seconds\": 3600}"
                .formatted(word));
    assertThat(claimed.json().path("leases").path(0).path("job").path("id").asString())
        .isEqualTo(job);
    long fence = claimed.json().path("leases").path(0).path("fence").asLong();
    put(
        "POST",
        "jobs/" + job + "/logs",
        "{\"fence\": %d, \"lines\": [\"%s\"]}".formatted(fence, word));
    while (!system.get("/api/v1/workers").text().contains("the_worker")) {
      Thread.onSpinWait(); // it is written down a while later
    }
  }

  private String put(String method, String path, String json) {
    Reply reply = system.send(method, "/api/v1/" + path, Optional.of(json));
    assertThat(reply.status()).as(path + ": " + reply.text()).isLessThan(300);
    return reply.text().startsWith("{") ? reply.json().path("id").asString("") : "";
  }

  private static String id(Reply reply, String field) {
    assertThat(reply.status()).as(reply.text()).isLessThan(300);
    return reply.json().path(field).asString();
  }

  /** All addresses by which a route could lead to one of them. */
  List<String> paths(Route route, TenantName tenant) {
    String path = route.path().replace("{tenant}", tenant.value()).replace("{type}", "site");
    Stream<String> plain =
        path.contains("{target_id}")
            ? Stream.of(path.replace("{target_id}", target).replace("{job_id}", targetJob))
            : path.contains("{job_id}") || path.contains("/jobs/{id}")
                ? Stream.of(job, targetJob, agentJob)
                    .map(id -> path.replaceAll("\\{(job_)?id}", id))
                : Stream.of(named(path));
    return plain
        .flatMap(each ->
            route.queries().contains("follow")
                ? Stream.of(each, each + "?follow=true")
                : Stream.of(each))
        .toList();
  }

  private String named(String path) {
    Map<String, String> names =
        Map.of(
            "kinds", "the_kind",
            "queues", "the_queue",
            "resources", "the_resource",
            "schedules", "the_schedule",
            "settings", "TOKEN_LIMIT",
            "webhooks", "the_webhook",
            "workers", "the_worker");
    String filled =
        path.replace("/nodes/{id}", "/nodes/the_node")
            .replace("/tokens/{id}", "/tokens/" + token)
            .replace("/subjects/site/{id}", "/subjects/site/the_subject");
    for (Map.Entry<String, String> name : names.entrySet()) {
      filled =
          filled.replace(
              "/" + name.getKey() + "/{name}", "/" + name.getKey() + "/" + name.getValue());
    }
    assertThat(filled).as("a canary for every name").doesNotContain("{");
    return filled;
  }
}
