package dev.holdfast.model;

import dev.holdfast.job.JobAct;
import dev.holdfast.model.Command.Beat;
import dev.holdfast.model.Command.Change;
import dev.holdfast.model.Command.Claim;
import dev.holdfast.model.Command.Do;
import dev.holdfast.model.Command.End;
import dev.holdfast.model.Command.Enqueue;
import dev.holdfast.model.Command.Extras;
import dev.holdfast.model.Command.Finish;
import dev.holdfast.model.Command.FreeResource;
import dev.holdfast.model.Command.How;
import dev.holdfast.model.Command.Inspect;
import dev.holdfast.model.Command.Reap;
import dev.holdfast.model.Command.SetCapacity;
import dev.holdfast.model.Command.Spec;
import dev.holdfast.model.Command.Tick;
import dev.holdfast.model.ModelJob.By;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/** Thinks up the next command, given what there is. The same seed thinks of the same. */
final class Generator {

  private static final List<String> RESOURCES = List.of("a", "b", "c");
  private static final List<String> TARGETS = List.of("t", "u");
  private static final List<String> SUBJECTS = List.of("north", "south");
  private static final List<Optional<Integer>> TIMEOUTS =
      List.of(
          Optional.empty(),
          Optional.of(JobFromSpec.DEFAULT_TIMEOUT_SECONDS),
          Optional.of(JobFromSpec.DEFAULT_TIMEOUT_SECONDS),
          Optional.of(4),
          Optional.of(15));
  private static final List<String> WORKERS = List.of("w1", "w2", "w3");
  private static final int MOST_LIVE = 14;

  private final Random dice;
  private final Extra extra;
  private final int length;
  private final boolean rushed; // time hardly passes, so that jobs get passed over, not lost
  private final double needy;
  private int enqueued;
  private int claims;

  /** Of everything there is. */
  static Generator of(long seed) {
    return new Generator(seed, Extra.of(seed));
  }

  /** Of jobs and resources alone, as it was in the beginning: for seeds that were kept since. */
  static Generator ofTheFirst(long seed) {
    return new Generator(seed, Extra.nothing());
  }

  private Generator(long seed, Extra extra) {
    this.extra = extra;
    dice = new Random(seed);
    length = 40 + dice.nextInt(100);
    rushed = dice.nextInt(3) == 0;
    needy = List.of(0.5, 0.8, 1.0).get(dice.nextInt(3));
  }

  /** How many commands make a good sequence. */
  int length() {
    return length;
  }

  Command next(Driver driver) {
    return extra.next(driver).orElseGet(() -> usual(driver));
  }

  private Command usual(Driver driver) {
    List<ModelJob> jobs = List.copyOf(driver.model().jobs());
    long live = jobs.stream().filter(job -> !job.isFinished()).count();
    List<ModelJob> leased = jobs.stream().filter(ModelJob::isLeased).toList();
    // One that is lost is soon claimed again, and soon over: few would be found by the dice alone.
    if (jobs.stream().anyMatch(Generator::isGivenAway) && dice.nextInt(8) == 0) {
      return late(driver, jobs);
    }
    int roll = dice.nextInt(100);
    if (jobs.isEmpty() || (roll < 24 && live < MOST_LIVE)) {
      Enqueue fresh = new Enqueue(enqueued++, extra.dress(spec()));
      extra.remember(fresh);
      return fresh;
    }
    if (roll < 48) {
      return claim(driver);
    }
    if (roll < 62) {
      return leased.isEmpty() ? claim(driver) : finish(driver, leased);
    }
    if (roll < 67) {
      return late(driver, jobs);
    }
    if (roll < 71) {
      return leased.isEmpty() ? claim(driver) : beat(driver, jobs, leased);
    }
    if (roll < 78) {
      return new Tick(rushed && dice.nextInt(20) > 0 ? 1 : any(List.of(1, 2, 4, 6, 11, 31, 62)));
    }
    if (roll < 82) {
      return new Reap();
    }
    if (roll < 96) {
      return act(driver, first(driver.reserving(), jobs));
    }
    return switch (roll) {
      case 96 -> new Inspect();
      case 97 -> new FreeResource(anyName());
      default -> new SetCapacity(anyName(), 1 + dice.nextInt(3));
    };
  }

  private Spec spec() {
    TreeSet<String> needs = new TreeSet<>();
    Optional<String> target = Optional.empty();
    if (dice.nextDouble() < needy) {
      int shape = dice.nextInt(10);
      if (shape < 7) {
        int wanted = 1 + dice.nextInt(3);
        for (int i = 0; i < wanted; i++) {
          needs.add(any(RESOURCES));
        }
      }
      if (shape > 3) {
        target = Optional.of(any(TARGETS));
        needs.add("target:" + target.get());
      }
    }
    return new Spec(
        dice.nextInt(4) == 0 ? "check" : "deploy",
        dice.nextInt(3) == 0 ? dice.nextInt(3) - 1 : 0,
        needs,
        target,
        dice.nextInt(4) == 0 ? Optional.of(any(SUBJECTS)) : Optional.empty(),
        dice.nextInt(20) == 0,
        dice.nextInt(8) == 0 ? 1 + dice.nextInt(12) : 0,
        1 + dice.nextInt(3),
        any(List.of(5, 10, 30, 300)),
        any(List.of(0, 0, 3, 15)),
        any(TIMEOUTS),
        dice.nextInt(3) == 0,
        dice.nextBoolean(),
        dice.nextInt(4) == 0,
        Extras.NONE);
  }

  private Claim claim(Driver driver) {
    String worker = any(WORKERS);
    Set<String> kinds =
        dice.nextInt(5) == 0 ? Set.of(dice.nextInt(3) == 0 ? "check" : "deploy") : Set.of();
    Optional<String> claimId = Optional.empty();
    Map<String, String> known = driver.workers().claimIds();
    if (!known.isEmpty() && dice.nextInt(12) == 0) {
      String id = any(new ArrayList<>(new TreeSet<>(known.keySet())));
      claimId = Optional.of(id);
      worker = dice.nextInt(6) == 0 ? worker : known.get(id);
    } else if (dice.nextInt(8) == 0) {
      claimId = Optional.of("claim-" + claims++);
    }
    return new Claim(worker, 1 + dice.nextInt(4), kinds, claimId, extra.acknowledges());
  }

  private Command finish(Driver driver, List<ModelJob> leased) {
    List<End> ends = new ArrayList<>();
    int wanted = dice.nextInt(4) == 0 ? 1 + dice.nextInt(3) : 1;
    for (int i = 0; i < wanted; i++) {
      ModelJob job = any(leased);
      if (ends.stream().noneMatch(end -> end.job() == job.number)) {
        ends.add(new End(job.number, driver.workers().leaseCount(job.number) - 1, how()));
      }
    }
    return new Finish(ends);
  }

  private How how() {
    return dice.nextInt(3) == 0 ? How.SUCCEEDED : any(List.of(How.values()));
  }

  /** By a worker that has lost its lease, or has said so already. */
  private Command late(Driver driver, List<ModelJob> jobs) {
    List<ModelJob> lost = jobs.stream().filter(ModelJob::hasLostALease).toList();
    List<ModelJob> givenAway = lost.stream().filter(Generator::isGivenAway).toList();
    ModelJob job = any(first(givenAway, lost, jobs));
    int count = driver.workers().leaseCount(job.number);
    if (count == 0) {
      return claim(driver);
    }
    int lease = dice.nextInt(isGivenAway(job) && count > 1 ? count - 1 : count);
    long fence = driver.workers().lease(job.number, lease).orElseThrow().key().fence();
    Optional<ModelJob.Recorded> recorded = Optional.ofNullable(job.ends.get(fence));
    return new Finish(List.of(new End(job.number, lease, late(recorded))));
  }

  private static boolean isGivenAway(ModelJob job) {
    return job.hasLostALease() && job.isLeased();
  }

  // Mostly what it said before, if it did; or what the reaper did in its place, or nearly.
  private How late(Optional<ModelJob.Recorded> recorded) {
    if (recorded.isEmpty() || dice.nextInt(3) == 0) {
      return how();
    }
    ModelJob.Recorded end = recorded.get();
    boolean wasFailed = end.by() == By.REAPER && end.phase() == ModelJob.Phase.FAILED;
    return wasFailed ? How.FAILED : end.saidByWorker().orElseGet(this::how);
  }

  private Command beat(Driver driver, List<ModelJob> jobs, List<ModelJob> leased) {
    ModelJob job = dice.nextInt(5) == 0 ? any(jobs) : any(leased);
    int count = driver.workers().leaseCount(job.number);
    return new Beat(job.number, count == 0 ? 0 : dice.nextInt(count));
  }

  // Mostly one that makes sense; what makes none must be refused, and is tried, too.
  private Command act(Driver driver, List<ModelJob> jobs) {
    JobAct act = any(List.of(JobAct.values()));
    boolean force = dice.nextInt(3) == 0;
    List<ModelJob> stopping =
        jobs.stream().filter(job -> job.phase == ModelJob.Phase.STOPPING).toList();
    List<ModelJob> lingering =
        jobs.stream().filter(job -> job.isFinished() && driver.model().holdsAnything(job)).toList();
    if (act == JobAct.DELETE && !lingering.isEmpty() && dice.nextBoolean()) {
      return new Do(act, force, any(lingering).number, Change.NONE);
    }
    // Jobs do not stay in stopping for long, so that few would be found there.
    List<ModelJob> found =
        !stopping.isEmpty() && dice.nextInt(3) == 0
            ? stopping
            : dice.nextInt(3) == 0 ? ofOneState(jobs) : jobs;
    List<ModelJob> allowed =
        found.stream().filter(job -> driver.rules().isAllowed(job, act, force)).toList();
    ModelJob job = any(allowed.isEmpty() || dice.nextInt(5) == 0 ? found : ofOneState(allowed));
    return new Do(act, force, job.number, act == JobAct.CHANGE ? change() : Change.NONE);
  }

  // So that the states few jobs are in get their share.
  private List<ModelJob> ofOneState(List<ModelJob> jobs) {
    ModelJob.Phase phase = any(jobs.stream().map(job -> job.phase).distinct().toList());
    return jobs.stream().filter(job -> job.phase == phase).toList();
  }

  private Change change() {
    return new Change(
        dice.nextBoolean() ? Optional.of(dice.nextInt(20) - 10) : Optional.empty(),
        dice.nextBoolean() ? Optional.of(dice.nextInt(3) - 1) : Optional.empty());
  }

  private String anyName() {
    return dice.nextInt(3) == 0 ? "target:" + any(TARGETS) : any(RESOURCES);
  }

  // Those who come first are worth more, but the others have a chance, too.
  @SafeVarargs
  private List<ModelJob> first(List<ModelJob>... preferred) {
    for (List<ModelJob> each : preferred) {
      if (!each.isEmpty() && dice.nextInt(4) > 0) {
        return each;
      }
    }
    return preferred[preferred.length - 1];
  }

  private <T> T any(List<T> things) {
    return things.get(dice.nextInt(things.size()));
  }
}
