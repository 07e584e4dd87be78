package dev.holdfast.queue;

import dev.holdfast.audit.Act;
import dev.holdfast.codec.Codec;
import dev.holdfast.hold.Blocks;
import dev.holdfast.hold.Holds;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobAct;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Placement;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.job.Subject;
import dev.holdfast.lease.Consequences;
import dev.holdfast.lease.ForcedEnds;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.outbox.Outbox;
import dev.holdfast.slot.Slots;
import dev.holdfast.subject.Subjects.Move;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.wake.Announcer;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * What people do to jobs. Every act locks the job's resources and then the job, performs what
 * {@link JobAct} allows in the job's state, wakes the jobs that can continue because of it, and
 * writes the audit record: all in one transaction. It returns the job after the act. It throws a
 * {@link dev.holdfast.error.HoldfastException} with {@code NOT_FOUND} when there is no such job,
 * and with {@code STATE_CONFLICT} when the job's state does not allow the act. Thread-safe.
 */
public final class Acts {

  private final ActTransaction transaction;
  private final Codec codec;
  private final Holds holds;
  private final Blocks blocks;
  private final JobReader reader;
  private final ActStatements statements;
  private final ForcedEnds forced;
  private final LaneChanges moving;
  private final Outbox outbox;

  public Acts(Tenant tenant, Codec codec, Announcer announcer, TransitionHook hook) {
    Db db = tenant.db();
    this.codec = codec;
    Consequences consequences =
        Consequences.of(() -> announcer.announce(tenant.name().value()), hook);
    this.transaction = new ActTransaction(db, consequences);
    this.holds = new Holds(db);
    this.blocks = new Blocks(db);
    this.reader = new JobReader(db);
    this.statements = new ActStatements(db);
    this.forced = new ForcedEnds(tenant, consequences);
    this.moving = new LaneChanges(transaction, reader, new Lanes(db));
    this.outbox = new Outbox(db);
  }

  /**
   * Ends the job without undoing what it did. A running job is asked to stop, or with force ended
   * at once.
   */
  public Job cancel(UUID id, Act act) {
    return transaction.perform(
        JobAct.CANCEL,
        id,
        act,
        (handle, job) -> {
          if (job.state().isLeased() && !act.force()) {
            statements.requestStop(handle, job, Optional.of(JobState.CANCELLED));
            return Optional.empty();
          }
          return end(handle, job, JobState.CANCELLED, "CANCELLED", act.words("Cancelled"));
        });
  }

  /**
   * Cancels a schedule's job that no worker began in time, and notes the missed slot for webhooks.
   * Throws {@code STATE_CONFLICT} for a job that was begun or paused meanwhile.
   */
  public Job expire(UUID id, String schedule, String why) {
    return transaction.perform(
        JobAct.CANCEL,
        id,
        Act.by("scheduler").because(why),
        (handle, job) -> {
          if (job.state() != JobState.QUEUED || job.fence() > 0) {
            throw Refusals.notInItsState(JobAct.CANCEL, job);
          }
          outbox.slotsMissed(handle, "a slot of schedule %s: %s".formatted(schedule, why));
          return end(handle, job, JobState.CANCELLED, Slots.MISFIRE, why);
        });
  }

  /** Ends the job as its policy says: cancelled or paused. A running job is asked to stop. */
  public Job stop(UUID id, Act act) {
    return transaction.perform(
        JobAct.STOP,
        id,
        act,
        (handle, job) -> {
          if (job.state().isLeased()) {
            statements.requestStop(handle, job, Optional.empty());
            return Optional.empty();
          }
          if (reader.policy(handle, id).onStop() == OnStop.CANCEL) {
            return end(handle, job, JobState.CANCELLED, "STOPPED", act.words("Stopped"));
          }
          if (job.state() != JobState.PAUSED) {
            pause(handle, job, act);
          }
          return Optional.empty();
        });
  }

  /**
   * Lets the job wait until an operator resumes it; other jobs of its target wait with it. A
   * running job is asked to stop first.
   */
  public Job pause(UUID id, Act act) {
    return transaction.perform(
        JobAct.PAUSE,
        id,
        act,
        (handle, job) -> {
          if (job.state().isLeased()) {
            statements.requestStop(handle, job, Optional.of(JobState.PAUSED));
          } else {
            pause(handle, job, act);
          }
          return Optional.empty();
        });
  }

  /** Sends a paused or failed job back to the queue, at its old place and with one more attempt. */
  public Job resume(UUID id, Act act) {
    return transaction.perform(
        JobAct.RESUME,
        id,
        act,
        (handle, job) -> {
          resume(handle, job);
          return Optional.empty();
        });
  }

  /**
   * Sends a paused or failed job back to the queue, for another host.
   *
   * @param placement the new host; its labels are not used
   */
  public Job resume(UUID id, Placement placement, Act act) {
    return moving.perform(
        JobAct.RESUME,
        id,
        act,
        old -> old.withHost(placement),
        (handle, job, lane) -> {
          resume(handle, job);
          statements.place(handle, reader.find(handle, id).orElseThrow(), lane);
        });
  }

  private void resume(Handle handle, Job job) {
    if (job.state() == JobState.PAUSED) {
      statements.set(handle, job, JobState.QUEUED, 1);
    } else {
      statements.revive(handle, job, 1, false);
    }
    blocks.remove(handle, job.id());
  }

  /** Sends a failed or cancelled job back to the queue, due now and with one more attempt. */
  public Job retry(UUID id, Act act) {
    return transaction.perform(
        JobAct.RETRY,
        id,
        act,
        (handle, job) -> {
          statements.revive(handle, job, 1, true);
          blocks.remove(handle, id);
          return Optional.empty();
        });
  }

  /**
   * Sends the job back to the queue: one that is pending, or that its worker has not started; with
   * force also one that runs or is finished.
   */
  public Job requeue(UUID id, Act act) {
    return transaction.perform(
        JobAct.REQUEUE,
        id,
        act,
        (handle, job) -> {
          requeue(handle, job);
          return Optional.empty();
        });
  }

  /**
   * Sends the job back to the queue, for another host.
   *
   * @param placement the new host; its labels are not used
   */
  public Job requeue(UUID id, Placement placement, Act act) {
    return moving.perform(
        JobAct.REQUEUE,
        id,
        act,
        old -> old.withHost(placement),
        (handle, job, lane) -> {
          requeue(handle, job);
          statements.place(handle, reader.find(handle, id).orElseThrow(), lane);
        });
  }

  private void requeue(Handle handle, Job job) {
    if (job.state().isLeased()) {
      forced.requeue(handle, job.id());
    } else if (job.state().isFinished()) {
      statements.revive(handle, job, 1, true);
      blocks.remove(handle, job.id());
    } else {
      statements.set(handle, job, JobState.QUEUED, 0);
    }
  }

  /**
   * Moves a waiting job to another host.
   *
   * @param placement the new host; its labels are not used
   */
  public Job place(UUID id, Placement placement, Act act) {
    return moving.perform(
        JobAct.CHANGE, id, act, old -> old.withHost(placement), statements::place);
  }

  /** Declares the job failed. A running attempt is ended at once. */
  public Job fail(UUID id, Act act) {
    return transaction.perform(
        JobAct.FAIL,
        id,
        act,
        (handle, job) -> {
          Optional<Move> subject =
              end(handle, job, JobState.FAILED, "FAILED_BY_HAND", act.words("Failed"));
          if (!job.state().isLeased() && reader.policy(handle, id).onFailure() == OnFailure.HOLD) {
            block(handle, job, JobState.FAILED, act);
          }
          return subject;
        });
  }

  /**
   * Declares a paused or failed job succeeded with this result, because a person did its work by
   * hand.
   *
   * @param result anything the codec can turn into JSON, or a {@link Payload}
   */
  public Job resolve(UUID id, Object result, Act act) {
    Payload payload =
        result instanceof Payload given
            ? given
            : new Payload(Limits.payload("result", codec.encode(result)));
    return transaction.perform(
        JobAct.RESOLVE,
        id,
        act,
        (handle, job) -> {
          if (job.state() == JobState.PAUSED) {
            statements.finish(handle, job, ActStatements.End.succeeded(payload));
          } else {
            statements.resolve(handle, job, payload);
          }
          blocks.remove(handle, id);
          return Move.of(job.needs().subject(), Subject.ACTIVE, id);
        });
  }

  /** Gives a waiting job another time, priority or tags. */
  public Job change(UUID id, Changes changes, Act act) {
    Optional<Integer> priority = changes.priority();
    if (priority.isPresent()) {
      return moving.perform(
          JobAct.CHANGE,
          id,
          act,
          old -> old.withPriority(priority.get()),
          (handle, job, lane) -> change(handle, job, changes, lane));
    }
    return transaction.perform(
        JobAct.CHANGE,
        id,
        act,
        (handle, job) -> {
          change(handle, job, changes, null);
          return Optional.empty();
        });
  }

  private void change(Handle handle, Job job, Changes changes, @Nullable Long lane) {
    @Nullable OffsetDateTime runAt =
        changes.runAt().map(at -> at.atOffset(ZoneOffset.UTC)).orElse(null);
    statements.change(handle, job, runAt, lane, changes.tags().orElse(null));
  }

  /**
   * Deletes a finished job and its history. Throws {@code STATE_CONFLICT} while the job still holds
   * a resource, because its work may be going on.
   */
  public void delete(UUID id, Act act) {
    transaction.perform(
        JobAct.DELETE,
        id,
        act,
        (handle, job) -> {
          if (holds.holdsAnything(handle, id, job.needs().resources())) {
            throw Refusals.stillHolds(JobAct.DELETE, id);
          }
          statements.delete(handle, job);
          blocks.remove(handle, id);
          return Optional.empty();
        });
  }

  /** Ends the job in whatever state it is; returns the move of its subject, if it may move. */
  private Optional<Move> end(Handle handle, Job job, JobState to, String code, String message) {
    if (job.state().isLeased()) {
      forced.finish(handle, job.id(), to, Failure.permanent(code, message));
      return Optional.empty(); // the subject moves with the attempt
    }
    ActStatements.End end = new ActStatements.End(to, code, message);
    if (job.state().isFinished()) {
      statements.restate(handle, job, end);
    } else {
      statements.finish(handle, job, end);
    }
    blocks.remove(handle, job.id());
    return job.fence() > 0 // it was given to a worker at least once
        ? Move.abandoned(job.needs().subject(), job.id())
        : Optional.empty();
  }

  private void pause(Handle handle, Job job, Act act) {
    statements.set(handle, job, JobState.PAUSED, 0);
    block(handle, job, JobState.PAUSED, act);
  }

  private void block(Handle handle, Job job, JobState state, Act act) {
    job.needs()
        .targetResource()
        .ifPresent(target -> blocks.put(handle, target, job.id(), state.stored(), act.actor()));
  }
}
