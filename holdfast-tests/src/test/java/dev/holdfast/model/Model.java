package dev.holdfast.model;

import dev.holdfast.model.Command.Enqueue;
import dev.holdfast.model.Command.Spec;
import dev.holdfast.model.ModelJob.Phase;
import dev.holdfast.rig.People;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * What there is, said as simply as possible, in one thread and in memory. {@link AttemptRules} and
 * {@link ActRules} change it, and know the outcome of everything but two questions, which are the
 * engine's to answer within rules that {@link ClaimRules} checks: which of several jobs a claim
 * gets, and who is parked meanwhile.
 */
final class Model {

  static final String DURING = "deploying";
  static final String ACTIVE = "active";
  static final String FAILED = "failed";

  private static final long KILL_GRACE_MILLIS = 5_000;

  /** Who has a resource. */
  record Hold(String resource, int job, long fence, OptionalLong passesAt) {}

  /** Where a subject is, and whose job moved it there. */
  record Place(String state, UUID by) {}

  /** Who stands on a resource. */
  record Block(String resource, int job) {}

  /** An act as it is to be recorded: on a job, or on a resource by its name. */
  record Audited(String act, String actor, Optional<UUID> job, String resource) {}

  private final Map<Integer, ModelJob> jobs = new TreeMap<>();
  private final Map<UUID, ModelJob> everKnown = new HashMap<>();
  private final Set<Hold> holds = new HashSet<>();
  private final Set<Block> blocks = new HashSet<>();
  private final Map<String, Place> subjects = new HashMap<>();
  private final Map<String, Integer> capacities = new HashMap<>();
  private final Map<Audited, Integer> audited = new HashMap<>();
  private final QueueRules queues = new QueueRules(this);
  private long now;
  private long largestFence;
  private long enqueued;

  Model(long now) {
    this.now = now;
  }

  QueueRules queues() {
    return queues;
  }

  /** Each act that was done, and how often it was. */
  Map<Audited, Integer> audited() {
    return audited;
  }

  /** A person did it. */
  void actDone(String act, ModelJob job) {
    actDone(act, People.ADA.actor(), job);
  }

  void actDone(String act, String actor, ModelJob job) {
    audited.merge(new Audited(act, actor, Optional.of(job.id), ""), 1, Integer::sum);
  }

  void actDone(String act, String resource) {
    audited.merge(
        new Audited(act, People.ADA.actor(), Optional.empty(), resource), 1, Integer::sum);
  }

  /**
   * A tenant of the same name, in which nothing ever was. Fences go on: whoever had a job of the
   * old one must not be taken for who has one of the new.
   */
  void makeAnew() {
    everKnown.values().forEach(Model::forget);
    jobs.clear();
    holds.clear();
    blocks.clear();
    subjects.clear();
    capacities.clear();
    queues.forget();
    audited.clear();
  }

  private static void forget(ModelJob job) {
    job.phase = Phase.CANCELLED;
    job.ends.clear();
    job.keys.clear();
  }

  long now() {
    return now;
  }

  void tick(int seconds) {
    now += seconds * 1_000L;
  }

  Collection<ModelJob> jobs() {
    return jobs.values();
  }

  Optional<ModelJob> job(int number) {
    return Optional.ofNullable(jobs.get(number));
  }

  /** Also one that was deleted: its workers may not have heard of it. */
  ModelJob everKnown(UUID id) {
    return Optional.ofNullable(everKnown.get(id)).orElseThrow();
  }

  /** It is to have an id that a job had which was deleted. */
  boolean isGone(Enqueue enqueue) {
    return enqueue.spec().extras().hasId()
        && !jobs.containsKey(enqueue.job())
        && everKnown.containsKey(JobFromSpec.id(enqueue.job()));
  }

  Set<Hold> holds() {
    return holds;
  }

  Set<Block> blocks() {
    return blocks;
  }

  /** Where they are, by id; those that no job ever moved are missing. */
  Map<String, Place> subjects() {
    return subjects;
  }

  int capacity(String resource) {
    return capacities.getOrDefault(resource, 1);
  }

  void setCapacity(String resource, int capacity) {
    capacities.put(resource, capacity);
  }

  /** How many have it, not counting those whose grace is over. */
  long holders(String resource) {
    return holds.stream()
        .filter(hold -> hold.resource.equals(resource))
        .filter(hold -> hold.passesAt.isEmpty() || hold.passesAt.getAsLong() > now)
        .count();
  }

  /** Counting also those whose grace is over, whom the reaper has yet to find. */
  long holdersAndSilent(String resource) {
    return holds.stream().filter(hold -> hold.resource.equals(resource)).count();
  }

  boolean holdsAnything(ModelJob job) {
    return holds.stream().anyMatch(hold -> hold.job == job.number);
  }

  boolean isBlocked(String resource) {
    return blocks.stream().anyMatch(block -> block.resource.equals(resource));
  }

  boolean isBlocked(ModelJob job) {
    return job.spec.needs().stream().anyMatch(this::isBlocked);
  }

  /** The unfinished job that has the key. */
  Optional<ModelJob> unfinishedWith(Optional<String> uniqueKey) {
    return uniqueKey.flatMap(key ->
        jobs.values().stream()
            .filter(job -> !job.isFinished())
            .filter(job -> job.spec.extras().uniqueKey().equals(Optional.of(key)))
            .findFirst());
  }

  void enqueue(int number, UUID id, Spec spec) {
    enqueue(number, id, spec, now + spec.delaySeconds() * 1_000L);
  }

  void enqueue(int number, UUID id, Spec spec, long runAt) {
    ModelJob job = new ModelJob(number, id, spec, enqueued++, runAt);
    jobs.put(number, job);
    everKnown.put(id, job);
  }

  void delete(ModelJob job) {
    unblock(job);
    job.ends.clear();
    job.keys.clear();
    jobs.remove(job.number);
  }

  /** A claim got it. Answers what is wrong with that, whatever else was claimed. */
  Optional<String> grant(ModelJob job, String worker, long fence, boolean acknowledges) {
    if (!job.isDue(now)) {
      return Optional.of(job + " was granted but is " + job.phase + ", due at " + job.runAt);
    }
    if (fence <= job.fence || fence < largestFence) {
      return Optional.of(job + " was granted under " + fence + " after " + largestFence);
    }
    largestFence = fence;
    job.attempt++;
    job.fence = fence;
    job.worker = worker;
    job.expiresAt = leaseEnd(job);
    if (acknowledges) { // its time begins when it says so, and its work
      job.phase = Phase.DISPATCHED;
      job.startedAt = OptionalLong.of(now);
      job.timesOutAt = OptionalLong.empty();
    } else {
      start(job);
    }
    job.spec
        .needs()
        .forEach(name -> holds.add(new Hold(name, job.number, fence, OptionalLong.empty())));
    return Optional.empty();
  }

  void start(ModelJob job) {
    job.phase = Phase.RUNNING;
    job.startedAt = OptionalLong.of(now);
    job.timesOutAt =
        job.spec.timeoutSeconds().stream().mapToLong(limit -> now + limit * 1_000L).findFirst();
    moveSubject(job, DURING);
  }

  private long leaseEnd(ModelJob job) {
    return now + job.spec.leaseSeconds() * 1_000L;
  }

  boolean isCurrent(ModelJob job, long fence) {
    return job.isLeased() && job.fence == fence;
  }

  void beat(ModelJob job) {
    job.expiresAt = leaseEnd(job);
  }

  /** Its work has stopped. */
  void release(ModelJob job, long fence) {
    holds.removeIf(hold -> hold.job == job.number && hold.fence == fence);
  }

  /** Nobody saw its work stop. */
  void linger(ModelJob job) {
    long passesAt = job.expiresAt + KILL_GRACE_MILLIS;
    job.spec
        .needs()
        .forEach(name -> {
          holds.remove(new Hold(name, job.number, job.fence, OptionalLong.empty()));
          holds.add(new Hold(name, job.number, job.fence, OptionalLong.of(passesAt)));
        });
  }

  /** Passes on what lingered long enough. */
  void passOn() {
    holds.removeIf(hold -> hold.passesAt.isPresent() && hold.passesAt.getAsLong() <= now);
  }

  void block(ModelJob job) {
    job.targetResource().ifPresent(target -> blocks.add(new Block(target, job.number)));
  }

  void unblock(ModelJob job) {
    blocks.removeIf(block -> block.job == job.number);
  }

  void moveSubject(ModelJob job, String state) {
    job.spec.subject().ifPresent(subject -> subjects.put(subject, new Place(state, job.id)));
  }

  /** What it began to do to its subject is not undone; what another did since is not its fault. */
  void abandonSubject(ModelJob job) {
    job.spec
        .subject()
        .filter(subject -> subjects.containsKey(subject))
        .filter(subject -> subjects.get(subject).by.equals(job.id))
        .ifPresent(subject -> moveSubject(job, FAILED));
  }

  void freeResource(String resource) {
    blocks.removeIf(block -> block.resource.equals(resource));
    holds.removeIf(hold -> hold.resource.equals(resource) && hold.passesAt.isPresent());
  }
}
