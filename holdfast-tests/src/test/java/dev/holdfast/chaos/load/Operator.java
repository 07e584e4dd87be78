package dev.holdfast.chaos.load;

import dev.holdfast.Holdfast;
import dev.holdfast.audit.Act;
import dev.holdfast.chaos.ledger.LedgerClient;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.ResourceState.Blocker;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobAct;
import dev.holdfast.job.JobState;
import dev.holdfast.queue.JobFilter;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.random.RandomGenerator;

/**
 * The person who looks after targets: pauses some of the jobs that run, and resumes or resolves
 * those that stand on their target. Tells the ledger before and after. For one thread.
 */
public final class Operator {

  private static final Act ACT = Act.by("operator").because("chaos");
  private static final int MANY = 100;
  private static final JobFilter PAUSABLE =
      new JobFilter(
          Set.of(JobState.RUNNING),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.of(Workload.PAUSABLE),
          Optional.empty(),
          Optional.empty());

  /** Whether an act took place, as far as one can tell. */
  private enum Answer {
    DONE,
    DECLINED,
    NONE
  }

  private final Holdfast holdfast;
  private final LedgerClient ledger;
  private final RandomGenerator dice;
  private final Set<UUID> seen = new HashSet<>();
  private final Set<UUID> paused = new HashSet<>();
  private int blocksSeen;
  private int acts;

  public Operator(Holdfast holdfast, LedgerClient ledger, RandomGenerator dice) {
    this.holdfast = holdfast;
    this.ledger = ledger;
    this.dice = dice;
  }

  /** What was seen standing the last time is acted upon. */
  public void look() {
    pauseSome();
    for (Blocker block : holdfast.resources().blocksOlderThan(Duration.ZERO)) {
      if (!seen.remove(block.jobId())) {
        target(block.jobId())
            .ifPresent(target -> ledger.says("blocked %s %s".formatted(block.jobId(), target)));
        seen.add(block.jobId());
        blocksSeen++;
      } else {
        act(block.jobId());
      }
    }
  }

  private Optional<String> target(UUID id) {
    return holdfast.jobs().get(id).flatMap(job -> job.needs().target());
  }

  private void pauseSome() {
    for (Job job : holdfast.jobs().list(PAUSABLE, Optional.empty(), MANY).jobs()) {
      if (paused.add(job.id())) {
        ledger.says("asked %s pause".formatted(job.id()));
        Answer unused = attempt(() -> holdfast.acts().pause(job.id(), ACT));
      }
    }
  }

  private void act(UUID id) {
    JobAct what =
        switch (dice.nextInt(3)) {
          case 0 -> JobAct.RESOLVE;
          case 1 -> JobAct.RESUME;
          default -> JobAct.RETRY;
        };
    ledger.says("act %s %s".formatted(id, what.stored()));
    Answer answer =
        attempt(() -> {
          switch (what) {
            case RESOLVE -> holdfast.acts().resolve(id, "by hand", ACT);
            case RESUME -> holdfast.acts().resume(id, ACT);
            default -> {
              boolean isPaused = state(id).equals(Optional.of(JobState.PAUSED));
              Job unused =
                  isPaused ? holdfast.acts().resume(id, ACT) : holdfast.acts().retry(id, ACT);
            }
          }
        });
    if (answer == Answer.DECLINED) {
      ledger.says("declined %s %s".formatted(id, what.stored()));
    }
    // Whoever hears nothing looks.
    if (answer == Answer.DONE
        || (what == JobAct.RESOLVE && state(id).equals(Optional.of(JobState.SUCCEEDED)))) {
      acts++;
      ledger.says("acted %s %s".formatted(id, what.stored()));
    }
  }

  private Optional<JobState> state(UUID id) {
    return holdfast.jobs().get(id).map(Job::state);
  }

  // One who comes too late finds that the job has moved on, which is no harm.
  private static Answer attempt(Runnable act) {
    try {
      act.run();
      return Answer.DONE;
    } catch (HoldfastException e) {
      return e.code() == ErrorCode.DATABASE ? Answer.NONE : Answer.DECLINED;
    }
  }

  /** How often a job was seen that stands on its target. */
  public int blocksSeen() {
    return blocksSeen;
  }

  /** How often that was ended by an act. */
  public int acts() {
    return acts;
  }
}
