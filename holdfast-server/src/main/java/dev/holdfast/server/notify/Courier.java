package dev.holdfast.server.notify;

import dev.holdfast.Holdfast;
import dev.holdfast.hold.ResourceState.Blocker;
import dev.holdfast.invariant.Violation;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.loop.Loop;
import dev.holdfast.outbox.Outbox;
import dev.holdfast.outbox.Outbox.Note;
import dev.holdfast.server.tenancy.OpenTenants;
import dev.holdfast.server.tenancy.TenantServices;
import dev.holdfast.server.tenancy.Webhook;
import dev.holdfast.server.tenancy.Webhook.Event;
import dev.holdfast.tenant.Survey;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns each note of the outbox into one job per webhook that subscribed to its event, so that
 * deliveries are retried, recorded and visible like all jobs. Any number of nodes may do so at
 * once.
 */
public final class Courier implements Loop.Step {

  private static final Logger log = LoggerFactory.getLogger(Courier.class);

  private static final Duration PERIOD = Duration.ofSeconds(2);
  private static final Duration OLD = Duration.ofHours(1);
  private static final int NOTES_AT_ONCE = 100;
  private static final int ROUNDS_PER_WATCH = 30;

  // Only tenants with webhooks.
  private static final String HAS_NOTES =
      """
      SELECT '{schema}' AS schema_name, EXISTS (SELECT FROM {schema}.outbox) AS has_notes
       WHERE EXISTS (SELECT FROM {schema}.webhook)
      """;

  private static final PolicyOverrides PATIENT =
      PolicyOverrides.NONE
          .withMaxAttempts(12)
          .withTimeout(TimeLimit.of(Duration.ofSeconds(30)))
          .withRetry(new RetryPolicy.Exponential(Duration.ofSeconds(10), Duration.ofHours(1), 0.2));

  private final Holdfast holdfast;
  private final Survey notes = new Survey(HAS_NOTES);
  private final OpenTenants openTenants;
  private long rounds;

  public Courier(Holdfast holdfast, OpenTenants openTenants) {
    this.holdfast = holdfast;
    this.openTenants = openTenants;
  }

  @Override
  public Duration runOnce() {
    boolean watches = rounds++ % ROUNDS_PER_WATCH == 0;
    List<Tenant> all = holdfast.tenants().list().stream().map(holdfast.tenants()::tenant).toList();
    notes
        .ask(all, (row, context) -> row.getBoolean("has_notes"))
        .forEach((tenant, hasNotes) -> {
          if (hasNotes.getFirst() || watches) {
            tried(tenant.name(), watches);
          }
        });
    return PERIOD;
  }

  private void tried(TenantName name, boolean watches) {
    try {
      TenantServices services = openTenants.of(name);
      passOn(services);
      if (watches) {
        watch(services, services.webhooks().list());
      }
    } catch (RuntimeException e) {
      openTenants.forget(name);
      log.warn("Could not pass on what tenant {} wants to tell", name, e);
    }
  }

  private static void passOn(TenantServices services) {
    Outbox outbox = new Outbox(services.tenant().db());
    services
        .jobs()
        .prepare(job("", Event.JOB_FAILED, "", "", Instant.EPOCH)); // all have the same lane
    int taken;
    do {
      taken = services.tenant().db().inTransaction(handle -> passOn(handle, services, outbox));
    } while (taken == NOTES_AT_ONCE);
  }

  // The webhooks are read after the notes are taken: an earlier list could lack the webhooks for
  // which some of the notes were written.
  private static int passOn(Handle handle, TenantServices services, Outbox outbox) {
    List<Note> notes = outbox.take(handle, NOTES_AT_ONCE);
    List<Webhook> webhooks = notes.isEmpty() ? List.of() : services.webhooks().list(handle);
    for (Note note : notes) {
      Event event = Event.of(note.event());
      String about = note.jobId().map(UUID::toString).orElse("");
      webhooks.stream()
          .filter(webhook -> webhook.events().contains(event))
          .map(webhook -> job(webhook.name(), event, about, note.detail().orElse(""), note.at()))
          .forEach(job -> services.jobs().enqueue(handle.getConnection(), job));
    }
    return notes.size();
  }

  /** Reports what no transaction causes: blocks that are too old, and violated invariants. */
  private static void watch(TenantServices services, List<Webhook> webhooks) {
    webhooks.forEach(webhook -> {
      if (webhook.events().contains(Event.OLD_BLOCK)) {
        oldBlocks(services, webhook);
      }
      if (webhook.events().contains(Event.INVARIANT_VIOLATED)) {
        services.invariants().check().forEach(violation -> violated(services, webhook, violation));
      }
    });
  }

  private static void oldBlocks(TenantServices services, Webhook webhook) {
    for (Blocker block : services.resources().blocksOlderThan(OLD)) {
      String about = block.jobId().toString();
      once(
          services,
          webhook.name() + " block " + about + block.since(),
          job(
              webhook.name(),
              Event.OLD_BLOCK,
              about,
              block.reason() + " by " + block.actor(),
              block.since()));
    }
  }

  private static void violated(TenantServices services, Webhook webhook, Violation violation) {
    String about = violation.jobId().map(UUID::toString).orElse("");
    once(
        services,
        webhook.name() + " violation " + violation.id() + about + violation.detail(),
        job(
            webhook.name(),
            Event.INVARIANT_VIOLATED,
            about,
            violation.id() + ": " + violation.detail(),
            Instant.EPOCH));
  }

  // The same id is the same job, even after it has ended: so it is reported once, by whichever
  // node.
  private static void once(TenantServices services, String what, NewJob job) {
    UUID id =
        UUID.nameUUIDFromBytes(
            (services.tenant().name() + " " + what).getBytes(StandardCharsets.UTF_8));
    services.jobs().enqueue(job.withId(id));
  }

  private static NewJob job(String webhook, Event event, String about, String detail, Instant at) {
    Delivery delivery =
        new Delivery(
            webhook,
            event.stored(),
            Optional.of(about).filter(id -> !id.isEmpty()).orElse(null),
            detail,
            at.equals(Instant.EPOCH) ? null : at.toString());
    return Delivery.KIND.job(delivery).withQueue(Delivery.QUEUE).withPolicy(PATIENT);
  }
}
