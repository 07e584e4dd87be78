package dev.holdfast.server.notify;

import dev.holdfast.api.Json;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Outcome;
import dev.holdfast.server.tenancy.OpenTenants;
import dev.holdfast.server.tenancy.Webhook;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import tools.jackson.databind.node.ObjectNode;

/**
 * Sends signed messages to webhooks. The signature is the HMAC-SHA256 of the body under the
 * webhook's secret, so that the receiver can verify the sender; the delivery's id marks repeats.
 */
public final class Deliveries {

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final OpenTenants openTenants;
  private final Receivers receivers;

  private Deliveries(OpenTenants openTenants, Receivers receivers) {
    this.openTenants = openTenants;
    this.receivers = receivers;
  }

  /** Builds a worker that sends the messages. */
  public static Worker worker(WorkerBuilder worker, OpenTenants openTenants, Receivers receivers) {
    Deliveries deliveries = new Deliveries(openTenants, receivers);
    return worker
        .configure(config -> config.withQueues(Delivery.QUEUE).withConcurrency(4))
        .handleWithOutcome(Delivery.KIND, deliveries::send)
        .build();
  }

  private Outcome send(Delivery delivery, JobContext job) throws InterruptedException {
    Optional<Webhook> webhook =
        openTenants.of(new TenantName(job.tenant())).webhooks().find(delivery.webhook());
    if (webhook.isEmpty()) {
      return Outcome.failed(
          Failure.permanent("WEBHOOK_GONE", "there is no webhook " + delivery.webhook()));
    }
    URI url = URI.create(webhook.get().url());
    String body = body(job.tenant(), delivery);
    Map<String, String> headers =
        Map.of(
            "X-Holdfast-Event", delivery.event(),
            "X-Holdfast-Delivery", job.jobId().toString(),
            "X-Holdfast-Signature", "sha256=" + sign(webhook.get().secret(), body));
    try {
      Optional<List<InetAddress>> addresses = receivers.addressesOf(url.getHost());
      if (addresses.isEmpty()) {
        return Outcome.failed(
            Failure.permanent(
                "WEBHOOK_FORBIDDEN",
                url.getHost() + " is in a network that webhooks may not lead to"));
      }
      int status = new Post(url, addresses.get(), PATIENCE).send(headers, body);
      return status / 100 == 2
          ? Outcome.succeeded()
          : Outcome.failed(Failure.retryable("WEBHOOK_REFUSED", "the receiver answered " + status));
    } catch (IOException e) {
      if (Thread.interrupted()) { // it closes the connection; not the receiver's fault
        throw new InterruptedException();
      }
      return Outcome.failed(
          Failure.retryable("WEBHOOK_UNREACHABLE", "the receiver did not answer"));
    }
  }

  private static String body(String tenant, Delivery delivery) {
    ObjectNode json = Json.object();
    json.put("event", delivery.event());
    json.put("tenant", tenant);
    json.put("job_id", delivery.jobId());
    json.put("detail", delivery.detail());
    json.put("at", delivery.at());
    return Json.write(json);
  }

  static String sign(String secret, String body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      return HexFormat.of().formatHex(mac.doFinal(body.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new LinkageError("every Java has HmacSHA256", e);
    }
  }
}
