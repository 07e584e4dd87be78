package dev.holdfast.server.notify;

import dev.holdfast.job.Kind;
import org.jspecify.annotations.Nullable;

/**
 * One message to one webhook, by name: the address and the secret are looked up when it is sent.
 */
record Delivery(
    String webhook, String event, @Nullable String jobId, String detail, @Nullable String at) {

  static final String QUEUE = "holdfast.webhooks";
  static final Kind<Delivery> KIND = Kind.of("holdfast.webhook", Delivery.class);
}
