package dev.holdfast.queue;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.codec.Codec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.Blocks;
import dev.holdfast.hold.Holds;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Moved;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Subject;
import dev.holdfast.lease.Consequences;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.subject.Subjects;
import dev.holdfast.subject.Subjects.Move;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.wake.Announcer;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;

/**
 * What people do to jobs. Every act locks the job's resources and then the job, does what its state
 * allows or refuses, wakes those who can go on because of it, and is recorded with who did it and
 * why: all in one transaction. Thread-safe.
 */
public final class Acts {

  private final Jdbi jdbi;
  private final Codec codec;
  private final Consequences consequences;
  private final Holds holds;
  private final Blocks blocks;
  private final Subjects subjects;
  private final Audit audit;
  private final Moves moves;

  public Acts(Tenant tenant, Codec codec, Announcer announcer, TransitionHook hook) {
    Db db = tenant.db();
    this.jdbi = db.jdbi();
    this.codec = codec;
    this.consequences = Consequences.of(() -> announcer.announce(tenant.name().value()), hook);
    this.holds = new Holds(db);
    this.blocks = new Blocks(db);
    this.subjects = new Subjects(db);
    this.audit = new Audit(db);
    this.moves = new Moves(db);
  }

  /** Ends the job without rolling back what it did. A running one is asked to stop first. */
  public Job cancel(UUID id, Act act) {
    return perform(
        "cancel",
        id,
        act,
        (handle, job) -> {
          if (job.state().isFinished()) {
            throw refused("cancel", job);
          }
          if (job.state().isLeased()) {
            moves.requestStop(handle, job, Optional.of(JobState.CANCELLED));
            return Optional.empty();
          }
          String reason = act.reason().orElse("Cancelled by " + act.actor());
          moves.finish(handle, job, new Moves.End(JobState.CANCELLED, "CANCELLED", reason));
          blocks.remove(handle, id);
          // Had it begun, nobody undoes what it was doing to its subject.
          return job.attempt() > 0 ? Optional.of(Subject.FAILED) : Optional.empty();
        });
  }

  /** Asks a running job to stop; what becomes of it is its own policy's word. */
  public Job stop(UUID id, Act act) {
    return perform(
        "stop",
        id,
        act,
        (handle, job) -> {
          if (!job.state().isLeased()) {
            throw refused("stop", job);
          }
          moves.requestStop(handle, job, Optional.empty());
          return Optional.empty();
        });
  }

  /**
   * Lets the job wait until somebody resumes it; others of its target wait with it. A running one
   * is asked to stop first.
   */
  public Job pause(UUID id, Act act) {
    return perform(
        "pause",
        id,
        act,
        (handle, job) -> {
          switch (job.state()) {
            case PENDING, QUEUED -> {
              moves.set(handle, job, JobState.PAUSED, 0);
              job.needs()
                  .targetResource()
                  .ifPresent(target ->
                      blocks.put(handle, target, id, JobState.PAUSED.stored(), act.actor()));
            }
            case DISPATCHED, RUNNING, STOPPING ->
                moves.requestStop(handle, job, Optional.of(JobState.PAUSED));
            case PAUSED, SUCCEEDED, FAILED, CANCELLED -> throw refused("pause", job);
          }
          return Optional.empty();
        });
  }

  /** Back to the queue, at its old place and with one more attempt. */
  public Job resume(UUID id, Act act) {
    return perform(
        "resume",
        id,
        act,
        (handle, job) -> {
          switch (job.state()) {
            case PAUSED -> moves.set(handle, job, JobState.QUEUED, 1);
            case FAILED -> moves.revive(handle, job, 1);
            case PENDING, QUEUED, DISPATCHED, RUNNING, STOPPING, SUCCEEDED, CANCELLED ->
                throw refused("resume", job);
          }
          blocks.remove(handle, id);
          return Optional.empty();
        });
  }

  /** Somebody did by hand what the job was to do: it has succeeded, with this result. */
  public Job resolve(UUID id, Object result, Act act) {
    Payload payload =
        result instanceof Payload given
            ? given
            : new Payload(Limits.payload("result", codec.encode(result)));
    return perform(
        "resolve",
        id,
        act,
        (handle, job) -> {
          switch (job.state()) {
            case PAUSED -> moves.finish(handle, job, Moves.End.succeeded(payload));
            case FAILED -> moves.resolve(handle, job, payload);
            case PENDING, QUEUED, DISPATCHED, RUNNING, STOPPING, SUCCEEDED, CANCELLED ->
                throw refused("resolve", job);
          }
          blocks.remove(handle, id);
          return Optional.of(Subject.ACTIVE);
        });
  }

  private interface Step {
    /** Answers where the job's subject goes, if anywhere. */
    Optional<String> apply(Handle handle, Job job);
  }

  private Job perform(String name, UUID id, Act act, Step step) {
    List<String> resources = moves.find(id).orElseThrow(() -> noSuchJob(id)).needs().resources();
    Done done =
        inTransaction(handle -> {
          holds.make(handle, resources); // one that was never claimed has no row to lock
          holds.lock(handle, resources);
          Job before = moves.lock(handle, id).orElseThrow(() -> noSuchJob(id));
          Optional<String> subject = step.apply(handle, before);
          holds.waiting().forget(handle, List.of(id));
          int woken = holds.waiting().wake(handle, resources);
          subject.ifPresent(state -> move(handle, before, state));
          Job after = moves.get(handle, id);
          if (after.state() != before.state()) {
            consequences.moved(handle, List.of(moved(before, after)));
          }
          audit.write(handle, act, name, id, before.state().stored(), after.state().stored());
          return new Done(after, woken);
        });
    if (done.woken > 0 || done.job.state() == JobState.QUEUED) {
      consequences.woken();
    }
    return done.job;
  }

  private static Moved moved(Job before, Job after) {
    return new Moved(
        after.id(),
        after.kind(),
        after.queue(),
        after.needs(),
        before.state(),
        after.state(),
        after.fence());
  }

  private record Done(Job job, int woken) {}

  private Done inTransaction(HandleCallback<Done, RuntimeException> work) {
    try {
      return jdbi.inTransaction(work);
    } catch (JdbiException e) {
      if (SqlErrors.isDuplicate(e)) {
        throw new HoldfastException(
            ErrorCode.STATE_CONFLICT, "another unfinished job has the same unique key", e);
      }
      throw SqlErrors.translated("act", e);
    }
  }

  private void move(Handle handle, Job job, String state) {
    subjects.move(handle, Move.of(job.needs().subject(), state, job.id()).stream().toList());
  }

  private static HoldfastException noSuchJob(UUID id) {
    return new HoldfastException(ErrorCode.NOT_FOUND, "no job " + id);
  }

  private static HoldfastException refused(String act, Job job) {
    return new HoldfastException(
        ErrorCode.STATE_CONFLICT,
        "cannot %s job %s: it is %s".formatted(act, job.id(), job.state().stored()));
  }
}
