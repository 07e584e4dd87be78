package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Json;
import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.notify.Courier;
import dev.holdfast.server.notify.Deliveries;
import dev.holdfast.server.notify.Receivers;
import dev.holdfast.server.tenancy.OpenTenants;
import dev.holdfast.worker.Worker;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/**
 * Half a hundred secrets of all sorts are in use, most of them by something that does its best to
 * tell them. Afterwards none is found where anybody looks. Where they have to be stored (a
 * webhook's own, arguments as they are) is said in {@link SecretSearch}, and nowhere else.
 */
class PlantedSecretsTest extends SecretsRig {

  private static final int AT_LEAST = 50;

  @Test
  void none_of_fifty_secrets_is_told_anywhere() throws Exception {
    Map<Role, Caller> callers = new LinkedHashMap<>();
    for (Role role : Role.values()) {
      String token = server.token(role, Optional.of(tenant.name()));
      callers.put(
          role,
          new Caller(
              server.port(),
              Optional.of(search.known("token of " + role, token)),
              Optional.of(tenant.name())));
    }
    Caller admin = Objects.requireNonNull(callers.get(Role.ADMIN));
    Caller viewer = Objects.requireNonNull(callers.get(Role.VIEWER));
    search.known("admin.token", TestServer.tokenIn(server.ownConfig().data()));
    tokensOverHttp(admin);
    webhooks(admin);
    pullSecrets(admin);
    sessions(viewer.token().orElseThrow());
    List<UUID> jobs = commands();
    jobs.addAll(calls());
    deliver();
    assertThat(search.planted()).isGreaterThanOrEqualTo(AT_LEAST);

    // A command that went well and one that did not, a call likewise.
    List<UUID> shown = List.of(jobs.get(0), jobs.get(1), jobs.get(jobs.size() - 2), jobs.getLast());
    for (Caller caller : List.of(admin, viewer)) {
      everyAnswer(caller, shown);
    }
    assertThat(search.everything()).as("pages were shown").contains("</html>");
    mistakes(admin);
    search.lookAtDatabase();
    temporaryFiles();
    search.lookAtLog();

    assertThat(search.found()).isEmpty();
    assertThat(search.everything()).as("commands did say something").contains("***");
  }

  private void tokensOverHttp(Caller admin) {
    for (int i = 0; i < 3; i++) {
      Reply made =
          admin.post("/api/v1/tokens", "{\"name\": \"t%d\", \"role\": \"viewer\"}".formatted(i));
      String token = search.known("made token " + i, made.json().path("token").asString());
      Caller holder = new Caller(server.port(), Optional.of(token), Optional.empty());
      assertThat(holder.get("/api/v1/jobs").status()).isEqualTo(200);
      admin.send("DELETE", "/api/v1/tokens/" + made.json().path("id").asString(), Optional.empty());
      assertThat(holder.get("/api/v1/jobs").status()).isEqualTo(401);
    }
  }

  private void webhooks(Caller admin) {
    for (int i = 0; i < 5; i++) {
      ObjectNode json = Json.object();
      json.put("url", "http://127.0.0.1:" + elsewhere.getAddress().getPort() + "/hook" + i);
      json.put("secret", search.plant("webhook " + i)).putArray("events").add("job_failed");
      assertThat(admin.put("/api/v1/webhooks/w" + i, Json.write(json)).status()).isEqualTo(200);
    }
  }

  private void pullSecrets(Caller admin) {
    for (int i = 0; i < 2; i++) {
      String secret = search.plant("pull secret " + i);
      ObjectNode json = Json.object().put("secret", secret);
      assertThat(admin.put("/api/v1/pull-secret", Json.write(json)).status()).isLessThan(300);
    }
  }

  private void sessions(String token) throws Exception {
    for (int i = 0; i < 4; i++) {
      var answer =
          java.net.http.HttpClient.newHttpClient()
              .send(
                  java.net.http.HttpRequest.newBuilder(
                          java.net.URI.create(
                              "http://127.0.0.1:" + server.port() + "/ui?token=" + token))
                      .build(),
                  java.net.http.HttpResponse.BodyHandlers.ofString());
      String cookie =
          answer.headers().allValues("Set-Cookie").stream()
              .filter(each -> each.startsWith("holdfast_session="))
              .findFirst()
              .orElseThrow();
      search.known("session " + i, cookie.substring(cookie.indexOf('=') + 1, cookie.indexOf(';')));
      search.saw("location: " + answer.headers().firstValue("Location").orElse(""));
    }
  }

  // Of the worker's, and of the jobs' own; told in every way, well and badly.
  private List<UUID> commands() throws Exception {
    Map<String, String> configured = configured();
    ShellBarrier barrier = ShellBarrier.in(scratch);
    List<UUID> ids = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      Map<String, Object> args = new LinkedHashMap<>();
      args.put(
          "argv",
          List.of(
              "sh",
              "-c",
              barrier.command()
                  + "; env; echo \"$OWN\" | cut -c1-20; printf %s \"$OWN\"; printf %s \"$OWN\" >&2;"
                  + " cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '; exit "
                  + i % 2));
      String own = search.plant("variable " + i);
      args.put("env", Map.of("OWN", own));
      args.put("secrets", List.of("OWN", "CONFIGURED_" + i));
      args.put("stdin", "nothing");
      ids.add(enqueue("process", args));
      owners.put(own, ids.getLast());
      owners.put(Objects.requireNonNull(configured.get("CONFIGURED_" + i)), ids.getLast());
    }
    Map<String, Object> nosy = new LinkedHashMap<>();
    nosy.put("argv", List.of("env"));
    ids.add(enqueue("process", nosy));
    runTogether(Set.of("process"), config(configured), barrier, MANY, ids);
    String environment = String.join("\n", tenant.jobs().log(ids.getLast()));
    assertThat(environment).contains("HOLDFAST_JOB_ID").doesNotContain("CONFIGURED_", "OWN=");
    return ids;
  }

  private List<UUID> calls() {
    List<UUID> ids = new ArrayList<>();
    for (int i = MANY; i < 2 * MANY; i++) {
      Map<String, Object> args = new LinkedHashMap<>();
      args.put("method", "POST");
      args.put(
          "url",
          "http://127.0.0.1:%d/%s"
              .formatted(elsewhere.getAddress().getPort(), i % 2 == 0 ? "well" : "badly"));
      args.put("headers", Map.of("Authorization", "Bearer ${CONFIGURED_" + i + "}"));
      args.put("body", "key=${CONFIGURED_" + i + "}");
      args.put("secrets", List.of("CONFIGURED_" + i));
      ids.add(enqueue("http", args));
    }
    run("http", configured());
    return ids;
  }

  private void run(String executor, Map<String, String> configured) {
    ExecutorConfig config = config(configured);
    try (JobExecutors executors = JobExecutors.open(Set.of(executor), config);
        Worker worker = executors.installOn(tenant.worker()).build()) {
      search.saw("the configuration: " + config);
      worker.runDue();
    }
  }

  private void deliver() {
    OpenTenants openTenants = new OpenTenants(tenant.holdfast(), tenant -> Set::of);
    new Courier(tenant.holdfast(), openTenants).runOnce();
    Deliveries.worker(tenant.worker(), openTenants, new Receivers(Set.of("127.0.0.0/8"))).runDue();
  }

  // A secret in the wrong place, or sent wrongly, is not told back.
  private void mistakes(Caller admin) {
    String secret = search.plant("misplaced");
    search.saw(
        admin
            .put("/api/v1/webhooks/bad", "{\"url\": \"x\", \"secret\": \"" + secret + "\"}")
            .text());
    search.saw(admin.put("/api/v1/pull-secret", "{\"secret\": \"" + secret).text());
    Caller liar =
        new Caller(server.port(), Optional.of("hf_" + secret), Optional.of(tenant.name()));
    search.saw(liar.get("/api/v1/jobs").text());
    search.saw(liar.get("/ui?token=" + secret).text());
    search.saw(
        tenant
            .jobs()
            .enqueue(
                NewJob.of(
                        "http",
                        new Payload("{\"url\": \"http://me:%s@127.0.0.1/\"}".formatted(secret)))
                    .withPolicy(PolicyOverrides.NONE.withMaxAttempts(1)))
            .toString());
    run("http", configured());
    search.known("misplaced", secret);
  }
}
