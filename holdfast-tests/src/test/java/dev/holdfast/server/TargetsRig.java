package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Kind;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.WorkerBuilder;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** A target of a tenant, and a client that knows nothing but the document of targets. */
abstract class TargetsRig {

  static final Kind<Map<String, Object>> BOOK = kind("book");

  @RegisterExtension final TestTenant tenant = new TestTenant();

  final String target = UUID.randomUUID().toString();

  static Kind<Map<String, Object>> kind(String name) {
    @SuppressWarnings("unchecked")
    Class<Map<String, Object>> type = (Class<Map<String, Object>>) (Class<?>) Map.class;
    return Kind.of(name, type);
  }

  PlainHttp client() {
    return PlainHttp.at(TestServer.open().addressOf(tenant.name()));
  }

  WorkerBuilder worker() {
    return tenant.worker().configure(config -> config.withQueues("targets"));
  }

  void runDue() {
    worker().handle(BOOK, (parameters, job) -> {}).build().runDue();
  }

  String path(String id) {
    return "/targets/" + target + "/jobs/" + id + "/";
  }

  JsonNode enqueue(String apiName, String parameters) {
    return enqueue(client(), apiName, parameters);
  }

  JsonNode enqueue(PlainHttp client, String apiName, String parameters) {
    Reply reply =
        client.post(
            "/targets/" + target + "/jobs/",
            "{\"api_name\": \"%s\", \"parameters\": %s}".formatted(apiName, parameters));
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json();
  }

  JsonNode job(String id) {
    Reply reply = client().get("/targets/" + target + "/jobs/" + id);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json();
  }

  Map<String, Object> view(String id) {
    return tenant
        .query("SELECT * FROM {schema}.target_jobs WHERE id = '%s'".formatted(id))
        .getFirst();
  }

  static ClaimRequest request() {
    return ClaimRequest.of("w", Set.of("targets"), 1).thoroughly();
  }

  List<Lease> claim() {
    return leases().claim(request()).leases();
  }

  void finish(Lease lease) {
    leases().finish(List.of(new Finish(lease, Outcome.succeeded())));
  }

  PgLeases leases() {
    return tenant.leases();
  }
}
