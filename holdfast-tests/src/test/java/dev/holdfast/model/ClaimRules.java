package dev.holdfast.model;

import dev.holdfast.model.Command.Claim;
import dev.holdfast.model.Snapshot.Reservation;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Whether a claim chose as it may. It can give a worker less than everything, and who is parked is
 * its own affair, but nobody is overtaken by a later job in getting what both can have, nothing is
 * given twice, a target's jobs start in their order, and what is kept for others stays so.
 *
 * <p>Judged by the model as it was before the claim, and the tables before and after.
 */
final class ClaimRules {

  private static final long LAPSE_MILLIS = 10_000;

  private final Model model;
  private final Snapshot before;
  private final Snapshot after;
  private final Claim claim;
  private final Set<ModelJob> granted;
  private final List<String> complaints = new ArrayList<>();

  ClaimRules(Model model, Snapshot before, Snapshot after, Claim claim, List<ModelJob> granted) {
    this.model = model;
    this.before = before;
    this.after = after;
    this.claim = claim;
    this.granted = new HashSet<>(granted);
    if (this.granted.size() < granted.size()) {
      complaints.add("granted twice: " + granted);
    }
  }

  /**
   * What is wrong with it.
   *
   * @param saysThereIsMore the claim gave up before it had looked at everything, and said so
   */
  List<String> complaints(boolean saysThereIsMore) {
    if (granted.size() > claim.limit()) {
      complaints.add("granted " + granted.size() + " instead of " + claim.limit());
    }
    granted.forEach(this::checkGrant);
    boolean lookedAtAll =
        granted.size() < claim.limit()
            && !saysThereIsMore
            && (claim.claimId().isEmpty() || granted.isEmpty());
    for (ModelJob job : model.jobs()) {
      if (job.isDue(model.now()) && isServed(job) && !granted.contains(job)) {
        checkRefusal(job, lookedAtAll);
      }
    }
    return complaints;
  }

  private boolean isServed(ModelJob job) {
    return !model.queues().isPaused(queue(job))
        && (claim.kinds().isEmpty() || claim.kinds().contains(job.spec.kind()));
  }

  private static String queue(ModelJob job) {
    return job.spec.extras().queue();
  }

  private Predicate<ModelJob> inQueueOf(ModelJob job) {
    return other -> queue(other).equals(queue(job));
  }

  private void checkGrant(ModelJob job) {
    if (!isServed(job)) {
      complaints.add("%s of kind %s in %s was granted".formatted(job, job.spec.kind(), queue(job)));
    }
    if (!model.queues().hasRoom(queue(job), granted.stream().filter(inQueueOf(job)).count())) {
      complaints.add(job + " was granted though its queue has no room for it");
    }
    for (String name : job.spec.needs()) {
      long taken = model.holders(name) + granted.stream().filter(needs(name)).count();
      long kept =
          keptForOthers(
              name,
              job,
              owner -> !granted.contains(owner) && isKeptAfter(owner) && !hasLapsed(owner));
      if (model.isBlocked(name)) {
        complaints.add(job + " was granted though " + name + " is blocked");
      }
      if (taken + kept > model.capacity(name)) {
        complaints.add(
            "%s was granted: %s has %d holders and is kept for %d, of %d"
                .formatted(job, name, taken, kept, model.capacity(name)));
      }
    }
    model.jobs().stream()
        .filter(other -> isBeforeOnTarget(other, job) && !granted.contains(other))
        .forEach(other -> complaints.add(job + " was granted before " + other + " of its target"));
  }

  // It was woken, and for ten seconds nobody came for it.
  private boolean hasLapsed(ModelJob owner) {
    return !before.isParked(owner)
        && before.reservations().stream()
            .filter(kept -> kept.job().equals(owner.id))
            .allMatch(kept -> kept.since() <= model.now() - LAPSE_MILLIS);
  }

  private boolean isKeptAfter(ModelJob owner) {
    return after.reservations().stream()
        .anyMatch(kept -> kept.job().equals(owner.id) && kept.got());
  }

  private boolean isBeforeOnTarget(ModelJob first, ModelJob second) {
    return second.spec.target().isPresent()
        && first.spec.target().equals(second.spec.target())
        && first.isDue(model.now())
        && ModelJob.ORDER.compare(first, second) < 0;
  }

  private void checkRefusal(ModelJob job, boolean lookedAtAll) {
    if (isDenied(job)) {
      return;
    }
    granted.stream()
        .filter(other -> !isBehindTheLimit(job) && ModelJob.ORDER.compare(job, other) < 0)
        .filter(other -> !before.isParked(job) || isParkedOnWhatItGot(job, other))
        .forEach(other -> complaints.add(other + " was granted instead of " + job));
    if (lookedAtAll && !before.isParked(job)) {
      complaints.add(job + " was not granted and nothing is in its way");
    }
  }

  // One that is parked elsewhere was not looked at; but those who wait for one thing get it in
  // their order. Known: only the first of each lane is woken, so one behind it can be overtaken by
  // a job of another lane when the first finds that something else is in its way.
  private boolean isParkedOnWhatItGot(ModelJob parked, ModelJob other) {
    return other.spec.needs().stream()
        .anyMatch(name -> before.waitsFor(parked, name) && isFirstOfItsLane(parked, name));
  }

  private boolean isFirstOfItsLane(ModelJob parked, String name) {
    return model.jobs().stream()
        .filter(needs(name))
        .filter(inLaneOf(parked))
        .filter(job -> job.isDue(model.now()))
        .noneMatch(job -> ModelJob.ORDER.compare(job, parked) < 0);
  }

  /** Whether it could not have what it needs when its turn came. */
  private boolean isDenied(ModelJob job) {
    // One before it on its target that was parked is woken in the course of the claim, too late
    // for those behind it.
    if (model.jobs().stream()
        .filter(other -> isBeforeOnTarget(other, job))
        .anyMatch(other -> !granted.contains(other) || before.isParked(other))) {
      return true;
    }
    long first = granted.stream().filter(inQueueOf(job)).filter(wasServedBefore(job)).count();
    return !model.queues().hasRoom(queue(job), first + 1)
        || job.spec.needs().stream().anyMatch(name -> isDenied(job, name));
  }

  private Predicate<ModelJob> wasServedBefore(ModelJob job) {
    boolean isLate = isBehindTheLimit(job);
    return other -> isLate || ModelJob.ORDER.compare(other, job) < 0 || before.isParked(other);
  }

  // Known: of a lane in a queue with a limit no more are looked at than may run. Those behind them
  // have their turn when these had to be parked, and others may have been served by then.
  private boolean isBehindTheLimit(ModelJob job) {
    long ahead =
        model.jobs().stream()
            .filter(inLaneOf(job))
            .filter(other -> other.isDue(model.now()) && !before.isParked(other))
            .filter(other -> ModelJob.ORDER.compare(other, job) < 0)
            .count();
    return !model.queues().hasRoom(queue(job), ahead + 1);
  }

  private Predicate<ModelJob> inLaneOf(ModelJob job) {
    return inQueueOf(job)
        .and(other -> other.spec.kind().equals(job.spec.kind()) && other.priority == job.priority);
  }

  private boolean isDenied(ModelJob job, String name) {
    long first = granted.stream().filter(needs(name)).filter(wasServedBefore(job)).count();
    // Who is parked is woken when the reaper passes on what silent workers held, not by the clock.
    // Nor by others who need not be waited for any more, because they are blocked or paused.
    long taken =
        before.isParked(job)
            ? model.holdersAndSilent(name) + reservedForOthers(name, job).count()
            : model.holders(name) + keptForOthers(name, job, owner -> true);
    return model.isBlocked(name) || taken + first >= model.capacity(name);
  }

  private static Predicate<ModelJob> needs(String name) {
    return job -> job.spec.needs().contains(name);
  }

  private long keptForOthers(String name, ModelJob job, Predicate<ModelJob> counts) {
    return reservedForOthers(name, job)
        .filter(owner -> !model.isBlocked(owner) && !model.queues().isPaused(queue(owner)))
        .filter(counts)
        .count();
  }

  private Stream<ModelJob> reservedForOthers(String name, ModelJob job) {
    Set<UUID> owners = new HashSet<>();
    for (List<Reservation> each : List.of(before.reservations(), after.reservations())) {
      each.stream()
          .filter(kept -> kept.got() && kept.resource().equals(name) && !kept.job().equals(job.id))
          .forEach(kept -> owners.add(kept.job()));
    }
    return model.jobs().stream().filter(owner -> owners.contains(owner.id));
  }
}
