package dev.holdfast.job;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A job to be enqueued: what it does, and whatever it wants differently from its queue's defaults.
 * Immutable; every {@code with…} answers a changed copy.
 */
public final class NewJob {

  public static final String DEFAULT_QUEUE = "default";

  private final String kind;
  private final Object args;
  private Optional<UUID> id = Optional.empty();
  private String queue = DEFAULT_QUEUE;
  private int priority;
  private When when = When.NOW;
  private boolean pending;
  private Optional<UniqueKey> uniqueKey = Optional.empty();
  private Optional<SlotKey> slot = Optional.empty();
  private List<String> tags = List.of();
  private Needs needs = Needs.NOTHING;
  private Placement placement = Placement.ANYWHERE;
  private PolicyOverrides policy = PolicyOverrides.NONE;

  private NewJob(String kind, Object args) {
    this.kind = Limits.name("kind", kind);
    this.args = args;
  }

  private NewJob(NewJob other) {
    kind = other.kind;
    args = other.args;
    id = other.id;
    queue = other.queue;
    priority = other.priority;
    when = other.when;
    pending = other.pending;
    uniqueKey = other.uniqueKey;
    slot = other.slot;
    tags = other.tags;
    needs = other.needs;
    placement = other.placement;
    policy = other.policy;
  }

  /**
   * A job of a kind that is only known by name.
   *
   * @param args anything the codec can turn into JSON, or a {@link Payload} that is JSON already
   */
  public static NewJob of(String kind, Object args) {
    return new NewJob(kind, args);
  }

  /** An id of the caller's: the same id enqueued again, even after the job finished, is one job. */
  public NewJob withId(UUID id) {
    NewJob copy = new NewJob(this);
    copy.id = Optional.of(id);
    return copy;
  }

  /** Defaults to {@code default}. */
  public NewJob withQueue(String queue) {
    NewJob copy = new NewJob(this);
    copy.queue = Limits.name("queue", queue);
    return copy;
  }

  /** Smaller runs first. Defaults to 0. */
  public NewJob withPriority(int priority) {
    NewJob copy = new NewJob(this);
    copy.priority = Limits.priority(priority);
    return copy;
  }

  public NewJob withDelay(Duration delay) {
    return withWhen(new When.After(delay));
  }

  public NewJob withRunAt(Instant runAt) {
    return withWhen(new When.At(runAt));
  }

  public NewJob withWhen(When when) {
    NewJob copy = new NewJob(this);
    copy.when = when;
    return copy;
  }

  /** Stored, but not offered to workers until somebody queues it. */
  public NewJob asPending() {
    NewJob copy = new NewJob(this);
    copy.pending = true;
    return copy;
  }

  /** Unique among the tenant's unfinished jobs. */
  public NewJob withUniqueKey(String key) {
    return withUniqueKey(new UniqueKey(key, UniqueKey.Scope.TENANT));
  }

  public NewJob withUniqueKey(UniqueKey uniqueKey) {
    NewJob copy = new NewJob(this);
    copy.uniqueKey = Optional.of(uniqueKey);
    return copy;
  }

  /** For schedules: the slot that it runs for, instead of a unique key. */
  public NewJob withSlot(SlotKey slot) {
    NewJob copy = new NewJob(this);
    copy.slot = Optional.of(slot);
    return copy;
  }

  public NewJob withTags(String... tags) {
    return withTags(List.of(tags));
  }

  public NewJob withTags(List<String> tags) {
    NewJob copy = new NewJob(this);
    copy.tags = Limits.tags(tags);
    return copy;
  }

  /**
   * What the job needs to itself while it runs, or shares with as many as the resource's capacity
   * says. It gets all of them at once or none.
   */
  public NewJob withResources(String... names) {
    return withResources(List.of(names));
  }

  public NewJob withResources(List<String> names) {
    return withNeeds(Needs.of(names, needs.target(), needs.subject()));
  }

  /**
   * What the job acts upon. Jobs of one target run one after the other, in their order; one that is
   * paused, or failed and told to hold, keeps the others waiting.
   */
  public NewJob withTarget(String target) {
    List<String> others = needs.resources().stream().filter(name -> !Needs.isTarget(name)).toList();
    return withNeeds(Needs.of(others, Optional.of(target), needs.subject()));
  }

  /** A record of the application's that is in another state while the job runs. */
  public NewJob withSubject(Subject subject) {
    return withNeeds(Needs.of(needs.resources(), needs.target(), Optional.of(subject)));
  }

  private NewJob withNeeds(Needs needs) {
    NewJob copy = new NewJob(this);
    copy.needs = needs;
    return copy;
  }

  public NewJob withPlacement(Placement placement) {
    NewJob copy = new NewJob(this);
    copy.placement = placement;
    return copy;
  }

  public NewJob withLabels(Map<String, String> labels) {
    return withPlacement(placement.withLabels(labels));
  }

  /** The trace that its attempts continue. */
  public NewJob withTrace(TraceContext trace) {
    return withPolicy(policy.withTrace(trace));
  }

  public NewJob withPolicy(PolicyOverrides policy) {
    NewJob copy = new NewJob(this);
    copy.policy = policy;
    return copy;
  }

  public String kind() {
    return kind;
  }

  public Object args() {
    return args;
  }

  public Optional<UUID> id() {
    return id;
  }

  public String queue() {
    return queue;
  }

  public int priority() {
    return priority;
  }

  public When when() {
    return when;
  }

  public JobState firstState() {
    return pending ? JobState.PENDING : JobState.QUEUED;
  }

  public Optional<UniqueKey> uniqueKey() {
    return uniqueKey;
  }

  public Optional<SlotKey> slot() {
    return slot;
  }

  public List<String> tags() {
    return tags;
  }

  public Needs needs() {
    return needs;
  }

  public Placement placement() {
    return placement;
  }

  public PolicyOverrides policy() {
    return policy;
  }
}
