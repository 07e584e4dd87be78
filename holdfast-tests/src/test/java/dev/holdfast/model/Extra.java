package dev.holdfast.model;

import dev.holdfast.job.JobAct;
import dev.holdfast.model.Command.AskStop;
import dev.holdfast.model.Command.Change;
import dev.holdfast.model.Command.Decide;
import dev.holdfast.model.Command.DeleteSchedule;
import dev.holdfast.model.Command.Do;
import dev.holdfast.model.Command.End;
import dev.holdfast.model.Command.Enqueue;
import dev.holdfast.model.Command.Extras;
import dev.holdfast.model.Command.Finish;
import dev.holdfast.model.Command.How;
import dev.holdfast.model.Command.Plan;
import dev.holdfast.model.Command.PutSchedule;
import dev.holdfast.model.Command.Recover;
import dev.holdfast.model.Command.Remake;
import dev.holdfast.model.Command.SetQueue;
import dev.holdfast.model.Command.Spec;
import dev.holdfast.model.Command.Start;
import dev.holdfast.model.Command.Sweep;
import dev.holdfast.model.Command.Tell;
import dev.holdfast.model.Command.Trigger;
import dev.holdfast.model.ModelJob.Phase;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;

/**
 * Thinks up what only some sequences have: schedules, queues with limits, workers that say when
 * they start, reports, ids and keys, tenants that are made anew. By dice of its own, so that the
 * generator's fall as they always did.
 */
final class Extra {

  private static final List<String> WORKERS = List.of("w1", "w2", "w3");
  private static final int FEW_TOKENS = 100;
  private static final int MANY_TOKENS = 150;

  private final Random dice;
  private final boolean plans;
  private final boolean queues;
  private final boolean acknowledges;
  private final boolean reports;
  private final boolean names;
  private final boolean remakes;
  private final List<Enqueue> named = new ArrayList<>();

  private Extra(Random dice, boolean something) {
    this.dice = dice;
    plans = something && dice.nextInt(5) < 2;
    queues = something && dice.nextInt(3) == 0;
    acknowledges = something && dice.nextInt(3) == 0;
    reports = something && dice.nextInt(3) == 0;
    names = something && dice.nextInt(2) == 0;
    remakes = something && dice.nextInt(50) == 0;
  }

  static Extra of(long seed) {
    return new Extra(new Random(~seed), true);
  }

  static Extra nothing() {
    return new Extra(new Random(0), false);
  }

  Optional<Command> next(Driver driver) {
    if (plans && !driver.slots().vanished().isEmpty() && dice.nextInt(5) == 0) {
      return Optional.of(new Sweep()); // by itself it comes too rarely to meet one of them
    }
    if (plans && dice.nextInt(100) < 22) {
      return Optional.of(plan(driver));
    }
    if (queues && dice.nextInt(100) < 5) {
      return Optional.of(queue());
    }
    if (acknowledges && dice.nextInt(100) < 12) {
      return start(driver);
    }
    if (reports && dice.nextInt(100) < 12) {
      return tell(driver);
    }
    if (!named.isEmpty() && dice.nextInt(100) < 4) {
      return Optional.of(any(named));
    }
    if (remakes && dice.nextInt(100) < 3) {
      return Optional.of(new Remake(dice.nextInt(3) > 0));
    }
    return Optional.empty();
  }

  boolean acknowledges() {
    return acknowledges && dice.nextInt(3) > 0;
  }

  /** Tells a job what few are told. */
  Spec dress(Spec spec) {
    if (!queues && !names && !reports) {
      return spec;
    }
    boolean hasKey = names && dice.nextInt(5) == 0;
    return spec.with(
        new Extras(
            queues && dice.nextInt(3) > 0 ? "narrow" : "default",
            names && !hasKey && dice.nextInt(3) == 0,
            hasKey ? Optional.of(any(List.of("red", "green"))) : Optional.empty(),
            reports && dice.nextInt(4) == 0 ? Optional.of(FEW_TOKENS) : Optional.empty(),
            reports && dice.nextInt(4) == 0 ? Optional.of(1 + dice.nextInt(4)) : Optional.empty()));
  }

  void remember(Enqueue fresh) {
    if (fresh.spec().extras().hasId()) {
      named.add(fresh);
    }
  }

  private Command queue() {
    Optional<Integer> limit =
        dice.nextInt(3) == 0 ? Optional.empty() : Optional.of(1 + dice.nextInt(2));
    return new SetQueue(dice.nextInt(5) == 0 ? "default" : "narrow", dice.nextInt(4) == 0, limit);
  }

  private Optional<Command> start(Driver driver) {
    List<ModelJob> dispatched =
        driver.model().jobs().stream().filter(job -> job.phase == Phase.DISPATCHED).toList();
    List<ModelJob> leased = driver.model().jobs().stream().filter(ModelJob::isLeased).toList();
    if (leased.isEmpty()) {
      return Optional.empty();
    }
    ModelJob job = any(dispatched.isEmpty() || dice.nextInt(4) == 0 ? leased : dispatched);
    int lease = lease(driver, job);
    return Optional.of(
        dice.nextInt(8) == 0 ? new AskStop(job.number, lease) : new Start(job.number, lease));
  }

  // Mostly the last one; an earlier one is a worker's that does not know it is too late.
  private int lease(Driver driver, ModelJob job) {
    int count = driver.workers().leaseCount(job.number);
    return count == 0 || dice.nextInt(5) > 0 ? Math.max(0, count - 1) : dice.nextInt(count);
  }

  private Optional<Command> tell(Driver driver) {
    List<ModelJob> begun = driver.model().jobs().stream().filter(ModelJob::hasBegun).toList();
    List<ModelJob> leased = begun.stream().filter(ModelJob::isLeased).toList();
    if (begun.isEmpty()) {
      return Optional.empty();
    }
    Optional<Command> overTheLimit = overTheLimit(driver, leased);
    if (overTheLimit.isPresent()) {
      return overTheLimit;
    }
    ModelJob job = any(leased.isEmpty() || dice.nextInt(6) == 0 ? begun : leased);
    List<String> items = new ArrayList<>();
    for (int left = dice.nextInt(3); left > 0; left--) {
      items.add("item " + dice.nextInt(5));
    }
    return Optional.of(
        new Tell(
            job.number,
            lease(driver, job),
            dice.nextInt(3) == 0 ? 20 + dice.nextInt(60) : 0,
            items,
            dice.nextInt(3) == 0 ? Optional.of("key " + dice.nextInt(4)) : Optional.empty()));
  }

  // Few jobs have a limit, few of them go over it, or are cancelled before, and those soon end.
  private Optional<Command> overTheLimit(Driver driver, List<ModelJob> leased) {
    List<ModelJob> limited =
        leased.stream()
            .filter(job -> job.runs() && job.spec.extras().tokenLimit().isPresent())
            .toList();
    if (limited.isEmpty() || dice.nextBoolean()) {
      return Optional.empty();
    }
    ModelJob job = any(limited);
    int lease = lease(driver, job);
    if (job.isToBeFailed()) {
      return Optional.of(new Finish(List.of(new End(job.number, lease, How.SUCCEEDED))));
    }
    return Optional.of(
        job.isToBeCancelled() || dice.nextBoolean()
            ? new Tell(job.number, lease, MANY_TOKENS, List.of(), Optional.empty())
            : new Do(JobAct.CANCEL, false, job.number, Change.NONE));
  }

  private Command plan(Driver driver) {
    int roll = dice.nextInt(100);
    String name = any(SlotRules.NAMES);
    if (driver.slots().schedules().isEmpty() || roll < 14) {
      return new PutSchedule(planned(name));
    }
    if (roll < 18) {
      return new DeleteSchedule(name);
    }
    if (roll < 34) {
      long now = driver.model().now() / 1_000;
      return new Trigger(name, now - 30 + dice.nextInt(60));
    }
    return roll < 40 ? new Recover(any(WORKERS)) : new Decide();
  }

  private Plan planned(String name) {
    TreeSet<String> needs = new TreeSet<>();
    if (dice.nextInt(3) == 0) {
      needs.add(any(List.of("a", "b")));
    }
    Spec job =
        new Spec(
            dice.nextInt(4) == 0 ? "check" : "deploy",
            dice.nextInt(3) - 1,
            needs,
            Optional.empty(),
            Optional.empty(),
            false,
            0,
            1 + dice.nextInt(2),
            any(List.of(5, 10, 30)),
            any(List.of(0, 3)),
            dice.nextInt(3) == 0 ? Optional.of(15) : Optional.empty(),
            false,
            dice.nextInt(4) == 0,
            dice.nextInt(4) > 0,
            Extras.NONE);
    return new Plan(
        name,
        dice.nextInt(4) == 0 ? 30 : 20,
        job,
        dice.nextBoolean(),
        any(List.of(1, 15, 60, 300)),
        1 + dice.nextInt(2),
        any(List.of(5, 10, 60)),
        dice.nextInt(6) > 0);
  }

  private <T> T any(List<T> things) {
    return things.get(dice.nextInt(things.size()));
  }
}
