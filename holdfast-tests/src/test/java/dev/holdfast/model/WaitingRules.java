package dev.holdfast.model;

import dev.holdfast.model.Snapshot.Reservation;
import dev.holdfast.model.Snapshot.Row;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/** Who may be parked, and for whom resources may be kept, after any step. */
final class WaitingRules {

  private static final int TOO_OFTEN = 64;
  private static final long TOO_LONG_MILLIS = 60_000;

  private WaitingRules() {}

  static List<String> complaints(
      Model model, Snapshot before, Snapshot after, Set<String> claimedKinds) {
    List<String> complaints = new ArrayList<>();
    for (ModelJob job : model.jobs()) {
      boolean isParkedNow = after.isParked(job) && !before.isParked(job);
      boolean wasAskedFor =
          claimedKinds.contains(job.spec.kind())
              && !model.queues().isPaused(job.spec.extras().queue());
      if (isParkedNow && !wasAskedFor) {
        complaints.add(job + " was parked, though nobody tried to claim it");
      }
      reserved(model, before, after, job, complaints);
    }
    return complaints;
  }

  private static void reserved(
      Model model, Snapshot before, Snapshot after, ModelJob job, List<String> complaints) {
    Set<String> then = names(before, job, kept -> true);
    Set<String> now = names(after, job, kept -> true);
    if (now.isEmpty()) {
      return;
    }
    Set<String> first = new HashSet<>(job.spec.needs().stream().limit(now.size()).toList());
    if (!now.equals(first)) {
      complaints.add(job + " reserves " + now + ", not in the order of names");
    }
    boolean gotMore =
        !names(before, job, Reservation::got).containsAll(names(after, job, Reservation::got));
    if (gotMore && (model.isBlocked(job) || model.queues().isPaused(job.spec.extras().queue()))) {
      complaints.add(job + " got one more of " + now + " though it could not run with it");
    }
    if (then.isEmpty()) {
      Row row = before.jobs().get(job.id);
      boolean waitedTooLong =
          row.waitingSince().isPresent()
              && row.waitingSince().getAsLong() < model.now() - TOO_LONG_MILLIS;
      // One more than it had: it may have been passed over in this very step.
      if (!waitedTooLong && after.jobs().get(job.id).passedOver() < TOO_OFTEN) {
        complaints.add(job + " reserves " + now + " without having waited for long");
      }
      if (model.isBlocked(job)) {
        complaints.add(job + " reserves " + now + " though one of its resources is blocked");
      }
    }
  }

  private static Set<String> names(Snapshot snapshot, ModelJob job, Predicate<Reservation> which) {
    Set<String> names = new HashSet<>();
    snapshot.reservations().stream()
        .filter(kept -> kept.job().equals(job.id) && which.test(kept))
        .map(Reservation::resource)
        .forEach(names::add);
    return names;
  }
}
