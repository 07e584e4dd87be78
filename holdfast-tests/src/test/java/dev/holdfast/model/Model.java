package dev.holdfast.model;

import dev.holdfast.model.Command.How;
import dev.holdfast.model.Command.Spec;
import dev.holdfast.model.Command.Verb;
import dev.holdfast.model.ModelJob.Phase;
import dev.holdfast.model.ModelJob.Recorded;
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
 * What jobs do, said as simply as possible, in one thread and in memory. Knows the outcome of
 * everything but two questions, which are the engine's to answer within rules that {@link
 * ClaimRules} checks: which of several jobs a claim gets, and who is parked meanwhile.
 */
final class Model {

  private static final long KILL_GRACE_MILLIS = 5_000;

  /** Who has a resource. */
  record Hold(String resource, int job, long fence, OptionalLong passesAt) {}

  /** Who stands on a resource. */
  record Block(String resource, int job) {}

  private final Map<Integer, ModelJob> jobs = new TreeMap<>();
  private final Set<Hold> holds = new HashSet<>();
  private final Set<Block> blocks = new HashSet<>();
  private final Map<String, Integer> capacities = new HashMap<>();
  private long now;
  private long largestFence;

  Model(long now) {
    this.now = now;
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

  Set<Hold> holds() {
    return holds;
  }

  Set<Block> blocks() {
    return blocks;
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

  boolean isBlocked(String resource) {
    return blocks.stream().anyMatch(block -> block.resource.equals(resource));
  }

  boolean isBlocked(ModelJob job) {
    return job.spec.needs().stream().anyMatch(this::isBlocked);
  }

  void enqueue(int number, UUID id, Spec spec) {
    jobs.put(number, new ModelJob(number, id, spec, now + spec.delaySeconds() * 1_000L));
  }

  /** A claim got it. Answers what is wrong with that, whatever else was claimed. */
  Optional<String> grant(ModelJob job, String worker, long fence) {
    if (!job.isDue(now)) {
      return Optional.of(job + " was granted but is " + job.phase + ", due at " + job.runAt);
    }
    if (fence <= job.fence || fence < largestFence) {
      return Optional.of(job + " was granted under " + fence + " after " + largestFence);
    }
    largestFence = fence;
    job.phase = Phase.RUNNING;
    job.attempt++;
    job.fence = fence;
    job.worker = worker;
    job.expiresAt = leaseEnd(job);
    job.spec
        .needs()
        .forEach(name -> holds.add(new Hold(name, job.number, fence, OptionalLong.empty())));
    return Optional.empty();
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

  /** The worker reports the end of the attempt with this fence, in time or not. */
  void finish(ModelJob job, long fence, How how) {
    holds.removeIf(hold -> hold.job == job.number && hold.fence == fence);
    if (isCurrent(job, fence)) {
      end(job, how);
      settle(job, Optional.of(how));
    }
  }

  private void end(ModelJob job, How how) {
    boolean stopping = job.phase == Phase.STOPPING;
    switch (how) {
      case SUCCEEDED -> job.phase = Phase.SUCCEEDED;
      case FAILED_FOR_GOOD -> fail(job);
      case FAILED -> {
        if (job.isLastAttempt()) {
          fail(job);
        } else if (stopping) {
          stopped(job);
        } else {
          job.failures++;
          sendBack(job, job.spec.retrySeconds());
        }
      }
      case SNOOZED, SNOOZED_A_WHILE -> {
        if (stopping) {
          stopped(job);
        } else {
          job.attempt--;
          sendBack(job, how == How.SNOOZED ? 0 : Driver.A_WHILE_SECONDS);
        }
      }
      case RELEASED -> {
        boolean isToBeCancelled = job.stopAs.equals(Optional.of(Phase.CANCELLED));
        if (job.spec.pausesOnStop() && !isToBeCancelled) {
          job.attempt--;
          job.phase = Phase.PAUSED;
        } else if (stopping) {
          stopped(job);
        } else {
          job.attempt--;
          sendBack(job, 0);
        }
      }
      case STOPPED -> stopped(job);
    }
  }

  private static void fail(ModelJob job) {
    job.failures++;
    job.phase = Phase.FAILED;
  }

  private static void stopped(ModelJob job) {
    job.phase = job.stopAs.orElse(job.spec.pausesOnStop() ? Phase.PAUSED : Phase.CANCELLED);
  }

  private void sendBack(ModelJob job, int seconds) {
    job.phase = Phase.QUEUED;
    job.runAt = seconds == 0 ? job.runAt : now + seconds * 1_000L;
  }

  private void settle(ModelJob job, Optional<How> saidByWorker) {
    job.ends.put(job.fence, new Recorded(saidByWorker, job.phase));
    job.stopAs = Optional.empty();
    if (job.phase == Phase.PAUSED || (job.phase == Phase.FAILED && job.spec.holdsOnFailure())) {
      block(job);
    }
  }

  private void block(ModelJob job) {
    job.targetResource().ifPresent(target -> blocks.add(new Block(target, job.number)));
  }

  private void unblock(ModelJob job) {
    blocks.removeIf(block -> block.job == job.number);
  }

  void reap() {
    for (ModelJob job : jobs.values()) {
      if (job.isLeased() && job.expiresAt < now) {
        loseLease(job);
      }
    }
    holds.removeIf(hold -> hold.passesAt.isPresent() && hold.passesAt.getAsLong() <= now);
  }

  private void loseLease(ModelJob job) {
    long passesAt = job.expiresAt + KILL_GRACE_MILLIS;
    job.spec
        .needs()
        .forEach(name -> {
          holds.remove(new Hold(name, job.number, job.fence, OptionalLong.empty()));
          holds.add(new Hold(name, job.number, job.fence, OptionalLong.of(passesAt)));
        });
    if (job.phase == Phase.STOPPING) {
      stopped(job);
    } else if (job.spec.failsWhenLost() || job.isLastAttempt()) {
      fail(job);
    } else {
      job.failures++;
      sendBack(job, 0);
    }
    settle(job, Optional.empty());
  }

  /** False when the job's state does not allow it. */
  boolean act(ModelJob job, Verb verb) {
    switch (verb) {
      case CANCEL -> {
        if (job.isFinished()) {
          return false;
        }
        if (job.isLeased()) {
          askToStop(job, Optional.of(Phase.CANCELLED));
        } else {
          job.phase = Phase.CANCELLED;
          unblock(job);
        }
      }
      case STOP -> {
        if (!job.isLeased()) {
          return false;
        }
        askToStop(job, Optional.empty());
      }
      case PAUSE -> {
        if (job.isLeased()) {
          askToStop(job, Optional.of(Phase.PAUSED));
        } else if (job.phase == Phase.QUEUED) {
          job.phase = Phase.PAUSED;
          block(job);
        } else {
          return false;
        }
      }
      case RESUME -> {
        if (job.phase != Phase.PAUSED && job.phase != Phase.FAILED) {
          return false;
        }
        job.phase = Phase.QUEUED;
        job.granted++;
        unblock(job);
      }
      case RESOLVE -> {
        if (job.phase != Phase.PAUSED && job.phase != Phase.FAILED) {
          return false;
        }
        job.phase = Phase.SUCCEEDED;
        unblock(job);
      }
    }
    return true;
  }

  private static void askToStop(ModelJob job, Optional<Phase> as) {
    job.phase = Phase.STOPPING;
    job.stopAs = as.or(() -> job.stopAs);
  }

  void freeResource(String resource) {
    blocks.removeIf(block -> block.resource.equals(resource));
    holds.removeIf(hold -> hold.resource.equals(resource) && hold.passesAt.isPresent());
  }
}
