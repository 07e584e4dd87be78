package dev.holdfast.api;

import dev.holdfast.codec.Codec;
import dev.holdfast.codec.PolicyJson;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Needs;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Placement;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Subject;
import dev.holdfast.job.UniqueKey;
import dev.holdfast.job.When;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.node.ObjectNode;

/** A job to be enqueued, as JSON: what {@code POST /jobs} takes. */
public final class NewJobJson {

  private static final Set<String> OWN =
      Set.of(
          "id",
          "kind",
          "queue",
          "args",
          "priority",
          "run_at",
          "delay_seconds",
          "target",
          "resources",
          "unique_key",
          "unique_scope",
          "tags",
          "preferred_host",
          "require_host",
          "labels",
          "subject",
          "pending");

  private static final PolicyJson POLICIES = new PolicyJson();

  private NewJobJson() {}

  /** All fields that a job may have. */
  public static Set<String> fields() {
    Set<String> all = new TreeSet<>(OWN);
    all.addAll(PolicyJson.keysOfJob());
    return all;
  }

  public static NewJob read(Fields said) {
    NewJob job =
        NewJob.of(
            said.text("kind"),
            said.any("args")
                .map(args -> new Payload(Limits.payload("args", Json.write(args))))
                .orElse(Payload.EMPTY));
    job = said.optionalUuid("id").map(job::withId).orElse(job);
    job = said.optionalText("queue").map(job::withQueue).orElse(job);
    job = said.optionalInt("priority").map(job::withPriority).orElse(job);
    job = job.withWhen(when(said));
    job = said.flag("pending") ? job.asPending() : job;
    job = uniqueKey(said).map(job::withUniqueKey).orElse(job);
    job = job.withTags(said.texts("tags"));
    job = job.withResources(said.texts("resources"));
    job = said.optionalText("target").map(job::withTarget).orElse(job);
    job = said.optionalObject("subject").map(NewJobJson::subject).map(job::withSubject).orElse(job);
    return job.withPlacement(placement(said)).withPolicy(policy(said));
  }

  /** Reads the policy among an object's fields. */
  public static PolicyOverrides policy(Fields said) {
    ObjectNode policy = Json.object();
    PolicyJson.keysOfJob().stream()
        .filter(said::says)
        .forEach(name -> policy.set(name, said.json().get(name)));
    return policy.isEmpty() ? PolicyOverrides.NONE : POLICIES.readOfJob(Json.write(policy));
  }

  private static When when(Fields said) {
    Optional<Duration> delay = said.optionalSeconds("delay_seconds");
    if (delay.isPresent() && said.any("run_at").isPresent()) {
      throw HoldfastException.invalid("delay_seconds", delay.get(), "not together with run_at");
    }
    return said.optionalInstant("run_at")
        .<When>map(When.At::new)
        .or(() -> delay.map(When.After::new))
        .orElse(When.NOW);
  }

  private static Optional<UniqueKey> uniqueKey(Fields said) {
    UniqueKey.Scope scope =
        said.optionalText("unique_scope").map(NewJobJson::scope).orElse(UniqueKey.Scope.TENANT);
    return said.optionalText("unique_key").map(key -> new UniqueKey(key, scope));
  }

  private static UniqueKey.Scope scope(String name) {
    for (UniqueKey.Scope scope : UniqueKey.Scope.values()) {
      if (lower(scope).equals(name)) {
        return scope;
      }
    }
    throw HoldfastException.invalid("unique_scope", name, "tenant, queue, kind");
  }

  private static Subject subject(Fields said) {
    said.only(Set.of("type", "id", "during"));
    return new Subject(said.text("type"), said.text("id"), said.optionalText("during"));
  }

  private static Placement placement(Fields said) {
    return new Placement(
        said.optionalText("preferred_host"), said.flag("require_host"), said.textMap("labels"));
  }

  /** Writes a job as {@link #read} reads it. */
  public static ObjectNode write(NewJob job, Codec codec) {
    ObjectNode json = (ObjectNode) Json.parse("policy", POLICIES.writeSaid(job.policy()));
    job.id().ifPresent(id -> json.put("id", id.toString()));
    json.put("kind", job.kind());
    json.put("queue", job.queue());
    Json.put(
        json,
        "args",
        job.args() instanceof Payload payload ? payload : new Payload(codec.encode(job.args())));
    json.put("priority", job.priority());
    switch (job.when()) {
      case When.At(var instant) -> json.put("run_at", instant.toString());
      case When.After(var delay) -> json.put("delay_seconds", Json.seconds(delay));
    }
    json.put("pending", job.firstState() == JobState.PENDING);
    job.uniqueKey()
        .ifPresent(
            key -> json.put("unique_key", key.key()).put("unique_scope", lower(key.scope())));
    job.tags().forEach(json.putArray("tags")::add);
    job.needs().resources().stream()
        .filter(name -> !Needs.isTarget(name))
        .forEach(json.putArray("resources")::add);
    job.needs().target().ifPresent(target -> json.put("target", target));
    job.needs().subject().ifPresent(subject -> json.set("subject", JobJson.subject(subject)));
    job.placement().host().ifPresent(host -> json.put("preferred_host", host));
    json.put("require_host", job.placement().hostRequired());
    ObjectNode labels = json.putObject("labels");
    job.placement().labels().forEach(labels::put);
    return json;
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
