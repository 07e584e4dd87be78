package dev.holdfast.job;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A job to be enqueued: its kind and arguments, and its differences from its queue's defaults.
 * Immutable: every {@code with…} returns a changed copy, and throws a {@link
 * dev.holdfast.error.HoldfastException} with {@code INVALID_ARGUMENT} for a value past its limit.
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
   * A job of a kind that is given by its name; {@link Kind#job} also checks the type of the
   * arguments.
   *
   * @param args anything the codec can turn into JSON, or a {@link Payload} that is JSON already
   */
  public static NewJob of(String kind, Object args) {
    return new NewJob(kind, args);
  }

  /**
   * Gives the job an id. Enqueuing the same id again, even after the job finished, stores no second
   * job.
   */
  public NewJob withId(UUID id) {
    NewJob copy = new NewJob(this);
    copy.id = Optional.of(id);
    return copy;
  }

  /** The job's queue. Defaults to {@code default}. */
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

  /** The job may start this long after it is stored, by the database's clock. */
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

  /** Stores the job without offering it to workers until an operator queues it. */
  public NewJob asPending() {
    NewJob copy = new NewJob(this);
    copy.pending = true;
    return copy;
  }

  /**
   * Makes the job unique among the tenant's unfinished jobs: while one has this key, enqueuing
   * another returns that one.
   */
  public NewJob withUniqueKey(String key) {
    return withUniqueKey(new UniqueKey(key, UniqueKey.Scope.TENANT));
  }

  public NewJob withUniqueKey(UniqueKey uniqueKey) {
    NewJob copy = new NewJob(this);
    copy.uniqueKey = Optional.of(uniqueKey);
    return copy;
  }

  /** For schedules: the slot that the job runs for. It takes the place of a unique key. */
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
   * The resources that the job holds while it runs: it gets all of them at once, or it waits. A
   * resource can be held by as many jobs at once as its capacity says, which is one unless set.
   */
  public NewJob withResources(String... names) {
    return withResources(List.of(names));
  }

  public NewJob withResources(List<String> names) {
    return withNeeds(Needs.of(names, needs.target(), needs.subject()));
  }

  /**
   * What the job acts upon. Jobs of one target run one after the other, in order; a job that is
   * paused, or failed with {@code on_failure: hold}, blocks the others.
   */
  public NewJob withTarget(String target) {
    List<String> others = needs.resources().stream().filter(name -> !Needs.isTarget(name)).toList();
    return withNeeds(Needs.of(others, Optional.of(target), needs.subject()));
  }

  /** A record of the application whose state follows the job's. */
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
