package dev.holdfast.chaos;

import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** Makes up jobs: on sites and nodes, on targets, and on nothing; for one thread. */
final class Workload {

  static final Duration LEASE = Duration.ofSeconds(3);

  private static final int SITES = 24;
  private static final int NODES = 12;
  private static final int TARGETS = 16;

  private static final int ENOUGH_ATTEMPTS = 15; // no series of crashes is that long
  private static final int FEW_ATTEMPTS = 3;
  private static final int EVERY_ATTEMPT = 1_000;

  /** A job, and what the enqueue log says of it once it has an id. */
  record Made(NewJob job, int maxAttempts, boolean doomed, Optional<String> target) {

    Acknowledged acknowledged(String id, long number) {
      return new Acknowledged(id, number, maxAttempts, doomed, target);
    }
  }

  private final RandomGenerator dice;

  Workload(RandomGenerator dice) {
    this.dice = dice;
  }

  Made next() {
    int kind = dice.nextInt(100);
    if (kind < 40) {
      String site = "site:" + dice.nextInt(SITES);
      String node = "node:" + dice.nextInt(NODES);
      return made(List.of(site, node), Optional.empty(), 1);
    }
    if (kind < 70) {
      String target = "t" + dice.nextInt(TARGETS);
      return made(List.of("target:" + target), Optional.of(target), 1);
    }
    return made(List.of(), Optional.empty(), 6);
  }

  private Made made(List<String> resources, Optional<String> target, int longPercent) {
    boolean doomed = dice.nextInt(100) < 1;
    int failures = doomed ? EVERY_ATTEMPT : dice.nextInt(100) < 8 ? 1 + dice.nextInt(2) : 0;
    int maxAttempts = doomed ? FEW_ATTEMPTS : ENOUGH_ATTEMPTS;
    Chore chore = new Chore(resources, millis(longPercent), failures, dice.nextInt(100) < 50);
    NewJob job =
        Chore.KIND
            .job(chore)
            .withPolicy(
                PolicyOverrides.NONE
                    .withMaxAttempts(maxAttempts)
                    .withLeaseLength(LEASE)
                    .withRetry(delays()));
    NewJob withNeeds =
        target.isPresent()
            ? job.withTarget(target.get())
            : job.withResources(new ArrayList<>(resources));
    return new Made(withNeeds, maxAttempts, doomed, target);
  }

  // Long ones outlast their lease, so that they live by heartbeats.
  private int millis(int longPercent) {
    return dice.nextInt(100) < longPercent ? dice.nextInt(3_300, 5_000) : dice.nextInt(1, 40);
  }

  private RetryPolicy delays() {
    return new RetryPolicy.Delays(
        List.of(Duration.ofMillis(dice.nextInt(50, 400)), Duration.ofMillis(500)));
  }
}
