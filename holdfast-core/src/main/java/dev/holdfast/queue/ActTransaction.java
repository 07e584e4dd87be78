package dev.holdfast.queue;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.Holds;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobAct;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Moved;
import dev.holdfast.lease.Consequences;
import dev.holdfast.outbox.Outbox;
import dev.holdfast.slot.Slots;
import dev.holdfast.subject.Subjects;
import dev.holdfast.subject.Subjects.Move;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleCallback;

/**
 * The transaction of an act on a job: takes the locks, checks that the act is allowed, performs it,
 * wakes the jobs that can continue because of it, and writes the audit record. Thread-safe.
 */
final class ActTransaction {

  private final Db db;
  private final Consequences consequences;
  private final Holds holds;
  private final Subjects subjects;
  private final Slots slots;
  private final Outbox outbox;
  private final Audit audit;
  private final JobReader reader;

  ActTransaction(Db db, Consequences consequences) {
    this.db = db;
    this.consequences = consequences;
    this.holds = new Holds(db);
    this.subjects = new Subjects(db);
    this.slots = new Slots(db);
    this.outbox = new Outbox(db);
    this.audit = new Audit(db);
    this.reader = new JobReader(db);
  }

  interface Step {
    /** Performs the act; returns the move of the job's subject, if it may move. */
    Optional<Move> apply(Handle handle, Job job);
  }

  /**
   * Performs an act.
   *
   * @return the job after the act, or before it if the act deleted it
   */
  Job perform(JobAct what, UUID id, Act act, Step step) {
    List<String> resources =
        reader.find(id).orElseThrow(() -> Refusals.noSuchJob(id)).needs().resources();
    Done done =
        inTransaction(handle -> {
          holds.lockSurely(handle, resources); // one that was never claimed has no row yet
          Job before = reader.lock(handle, id).orElseThrow(() -> Refusals.noSuchJob(id));
          refuseOutOfState(what, before, act);
          Optional<Move> subject = step.apply(handle, before);
          holds.waiting().forget(handle, List.of(id));
          int woken = holds.waiting().wake(handle, resources);
          subjects.move(handle, subject.stream().toList());
          Job after = reader.find(handle, id).orElse(before); // empty if deleted
          if (after.state() != before.state() && !before.state().isLeased()) {
            List<Moved> moved = List.of(moved(before, after));
            slots.follow(handle, moved);
            outbox.follow(handle, moved);
            consequences.moved(handle, moved);
          }
          audit.write(
              handle, act, what.stored(), id, before.state().stored(), after.state().stored());
          return new Done(after, woken);
        });
    if (done.woken > 0 || done.job.state() == JobState.QUEUED) {
      consequences.woken();
    }
    return done.job;
  }

  /** Throws unless the job's state allows the act. */
  static void refuseOutOfState(JobAct what, Job job, Act act) {
    if (!what.isAllowed(job.state(), act.force()) || !act.isMeantIn(job.state())) {
      throw Refusals.notInItsState(what, job);
    }
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
      return db.inTransaction(work);
    } catch (HoldfastException e) {
      if (SqlErrors.isDuplicate(e)) {
        throw Refusals.sameUniqueKey(e);
      }
      throw e;
    }
  }
}
