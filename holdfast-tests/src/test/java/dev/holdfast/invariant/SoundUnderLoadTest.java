package dev.holdfast.invariant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The rules hold at every commit, not only when everybody rests. */
class SoundUnderLoadTest {

  private static final int STEPS = 150;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final AtWork at = new AtWork(tenant);
  private final ConcurrentLinkedDeque<UUID> known = new ConcurrentLinkedDeque<>();

  private final ConcurrentLinkedDeque<Lease> silent = new ConcurrentLinkedDeque<>();

  private interface Step {
    void run(RandomGenerator dice);
  }

  @Test
  void while_others_enqueue_claim_finish_fall_silent_act_and_reap() throws Exception {
    List<Violation> violations = new ArrayList<>();
    int looks = 0;
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<?>> working =
          List.of(
              threads.submit(() -> repeat(1, this::enqueue)),
              threads.submit(() -> repeat(2, this::work)),
              threads.submit(() -> repeat(3, this::work)),
              threads.submit(() -> repeat(4, this::actOrReap)));
      while (working.stream().anyMatch(each -> !each.isDone())) {
        violations.addAll(tenant.invariants().check());
        looks++;
      }
      for (Future<?> each : working) {
        each.get();
      }
    }

    assertThat(violations).isEmpty();
    at.isSound();
    assertThat(looks).as("looks taken meanwhile").isGreaterThan(5);
  }

  private static void repeat(long seed, Step step) {
    SplittableRandom dice = new SplittableRandom(seed);
    for (int i = 0; i < STEPS; i++) {
      step.run(dice);
    }
  }

  private void enqueue(RandomGenerator dice) {
    PolicyOverrides policy =
        PolicyOverrides.NONE
            .withMaxAttempts(1 + dice.nextInt(4))
            .withOnStop(dice.nextBoolean() ? OnStop.PAUSE : OnStop.CANCEL)
            .withOnFailure(dice.nextBoolean() ? OnFailure.HOLD : OnFailure.RELEASE)
            .withRetry(new RetryPolicy.Delays(List.of(Duration.ofMillis(dice.nextInt(1, 300)))));
    NewJob job =
        NewJob.of("kind-" + dice.nextInt(2), 1)
            .withPriority(dice.nextInt(2))
            .withDelay(Duration.ofMillis(dice.nextInt(200)))
            .withPolicy(policy);
    List<String> resources = new ArrayList<>();
    for (int i = dice.nextInt(3); i > 0; i--) {
      resources.add("site:" + dice.nextInt(3));
    }
    job = job.withResources(resources);
    known.addLast(at.enqueue(dice.nextBoolean() ? job.withTarget("t" + dice.nextInt(2)) : job));
  }

  private void work(RandomGenerator dice) {
    ClaimRequest request =
        ClaimRequest.of("worker-" + dice.nextInt(1000), Set.of("default"), 1 + dice.nextInt(5))
            .withLeaseLength(Duration.ofSeconds(1));
    if (dice.nextInt(3) == 0) {
      request = request.withKinds(Set.of("kind-0"));
    }
    if (dice.nextInt(3) == 0) {
      request = request.withClaimId("claim-" + dice.nextLong());
    }
    for (Lease lease : at.claim(request)) {
      if (dice.nextInt(10) == 0) {
        silent.addLast(lease);
      } else {
        at.finish(lease, outcome(dice));
      }
    }
    if (silent.size() > 20) {
      at.finish(silent.removeFirst(), outcome(dice));
    }
  }

  private static Outcome outcome(RandomGenerator dice) {
    return switch (dice.nextInt(10)) {
      case 1 -> Outcome.failed(Failure.permanent("E", "e"));
      case 2, 3 -> Outcome.failed(Failure.retryable("E", "e"));
      case 4 -> Outcome.snoozed(Duration.ofMillis(dice.nextInt(1, 300)));
      case 5 -> new Outcome.Released("drain");
      default -> Outcome.succeeded();
    };
  }

  private void actOrReap(RandomGenerator dice) {
    if (dice.nextInt(5) == 0) {
      at.reap();
    } else {
      act(dice);
    }
  }

  private void act(RandomGenerator dice) {
    UUID job = dice.nextInt(3) == 0 ? known.peekFirst() : known.pollLast();
    if (job == null) {
      return;
    }
    known.addFirst(job);
    try {
      switch (dice.nextInt(8)) {
        case 0 -> tenant.acts().cancel(job, AtWork.ADA);
        case 1 -> tenant.acts().stop(job, AtWork.ADA);
        case 2, 3 -> tenant.acts().pause(job, AtWork.ADA);
        case 4 -> tenant.acts().resume(job, AtWork.ADA);
        case 5 -> tenant.acts().resolve(job, "by hand", AtWork.ADA);
        case 6 -> tenant.resources().release("target:t" + dice.nextInt(2), AtWork.ADA);
        default ->
            tenant
                .resources()
                .setCapacity("site:" + dice.nextInt(3), 1 + dice.nextInt(3), AtWork.ADA);
      }
    } catch (HoldfastException e) {
      assertThat(e).hasMessageContaining("cannot"); // its state does not allow that
    }
  }
}
