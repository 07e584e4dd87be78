package dev.holdfast.lease;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.fleet.Hosts;
import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.lease.Extension.Status;
import dev.holdfast.lease.Transitions.Applied;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Tenant;
import java.sql.Connection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Leases of one tenant, straight from its tables. Thread-safe. */
public final class PgLeases implements LeaseSource {

  private static final Logger log = LoggerFactory.getLogger(PgLeases.class);

  private static final FinishReply SUCCESS = new FinishReply.Recorded(JobState.SUCCEEDED);

  private static final String TARGET_REACHED = "target_reached";

  private final Db db;
  private final Db handlers;
  private final ClaimRounds claims;
  private final RemoteLeases remote;
  private final Beats beats;
  private final Reports reports;
  private final Transitions transitions;
  private final RandomGenerator dice;
  private final Consequences consequences;

  public PgLeases(
      Tenant tenant,
      Hosts hosts,
      LanePositions positions,
      RandomGenerator dice,
      Consequences consequences) {
    this.db = tenant.db();
    this.handlers = db.unhurried();
    this.consequences = consequences;
    LeaseRow row = LeaseRow.of(tenant);
    this.claims = new ClaimRounds(tenant.db(), row, hosts, positions, consequences);
    this.remote =
        new RemoteLeases(
            tenant,
            this,
            new SharedClaims(tenant.db(), claims, consequences),
            new KnownLeases(tenant.db(), row),
            new Starts(tenant.db(), consequences),
            new LateReleases(tenant.db(), consequences));
    this.beats = new Beats(tenant.db());
    this.reports = new Reports(tenant.db());
    this.transitions = new Transitions(tenant.db(), consequences);
    this.dice = dice;
  }

  /** The same leases, for remote workers. */
  public RemoteLeases remote() {
    return remote;
  }

  @Override
  public Claimed claim(ClaimRequest request) {
    return claims.claim(request);
  }

  @Override
  public List<Extension> extend(List<Lease> leases) {
    try {
      return beats.extend(leases);
    } catch (HoldfastException e) {
      if (SqlErrors.isTenantGone(e)) {
        return leases.stream().map(lease -> new Extension(lease.key(), Status.LOST)).toList();
      }
      throw e;
    }
  }

  /** Renews the lease of an attempt whose report is still to be stored. */
  void keep(LeaseKey key, Submission said) {
    beats.keep(key, said.extension(), said.report().idempotencyKey());
  }

  @Override
  public ReportReply report(Lease lease, Report report) {
    Optional<Long> targetCount = lease.policy().targetCount();
    return targetCount.isPresent()
        ? reportTowards(targetCount.get(), lease, report)
        : reports.store(lease.key(), report);
  }

  /**
   * Answers a report under a lease that is over: repeated, if its key was stored in time, or lost.
   */
  ReportReply reportLate(LeaseKey key, Report report) {
    return reports.store(key, report);
  }

  // The last report and the success are one transaction: a worker that dies afterwards has nothing
  // left to do, and one that goes on finds its lease over.
  private ReportReply reportTowards(long targetCount, Lease lease, Report report) {
    List<Ended> success = List.of(decide(new Finish(lease, Outcome.succeeded())));
    Reported last =
        db.inTransaction(handle -> {
          transitions.lockResources(handle, success); // resources come before any job's row
          ReportReply reply = reports.store(handle, lease.key(), report);
          if (reply instanceof ReportReply.Stored stored
              && reports.hasReached(handle, lease.key(), targetCount)) {
            return end(handle, success, Optional.of(TARGET_REACHED), stored);
          }
          return new Reported(reply, Optional.empty());
        });
    last.end().ifPresent(this::applied);
    return last.reply();
  }

  /** Stores a report, and the end of its attempt if it brings one, in one transaction. */
  ReportReply submit(Lease lease, Submission said) {
    Optional<String> excerpt = said.end().flatMap(Submission.End::logExcerpt);
    Ended reached = decide(new Finish(lease, Outcome.succeeded(), excerpt));
    Ended stopped = decide(new Finish(lease, new Outcome.Stopped(), excerpt));
    Optional<Ended> told = said.end().map(end -> decide(new Finish(lease, end.outcome(), excerpt)));
    Reported last =
        db.inTransaction(handle -> {
          transitions.lockResources(handle, List.of(reached)); // the same for all three ends
          ReportReply reply = reports.store(handle, lease.key(), said.report());
          if (!(reply instanceof ReportReply.Stored stored)) {
            return new Reported(reply, Optional.empty());
          }
          Reports.Standing standing = reports.goOn(handle, lease.key(), said);
          boolean failed = told.filter(end -> end.transition().countsAsFailure()).isPresent();
          boolean enough =
              lease.policy().targetCount().filter(count -> standing.results() >= count).isPresent();
          if (enough && !failed) {
            return end(handle, List.of(reached), Optional.of(TARGET_REACHED), stored);
          }
          if (told.isPresent()) {
            Optional<String> reason = said.end().flatMap(Submission.End::doneReason);
            return end(handle, List.of(told.get()), reason, stored);
          }
          return standing.state() == JobState.STOPPING
              ? end(handle, List.of(stopped), Optional.empty(), stored)
              : new Reported(stored, Optional.empty());
        });
    last.end().ifPresent(this::applied);
    return last.reply();
  }

  private Reported end(
      Handle handle, List<Ended> end, Optional<String> doneReason, ReportReply.Stored stored) {
    Applied applied = transitions.apply(handle, end);
    doneReason.ifPresent(reason -> reports.doneBecause(handle, end.getFirst().key(), reason));
    return ended(stored, applied);
  }

  private record Reported(ReportReply reply, Optional<Applied> end) {}

  private static Reported ended(ReportReply.Stored stored, Applied end) {
    Optional<JobState> state =
        end.replies().getFirst() instanceof FinishReply.Recorded(JobState recorded)
            ? Optional.of(recorded)
            : Optional.empty();
    return new Reported(
        new ReportReply.Stored(stored.added(), stored.duplicates(), state), Optional.of(end));
  }

  /** Records ends. One that cannot be stored fails or waits, and no other. */
  @Override
  public List<FinishReply> finish(List<Finish> finished) {
    // Where the database is away or busy, it is so for all of them.
    return Halving.of(finished, this::finishTogether, e -> !SqlErrors.isPassing(e), this::alone);
  }

  private List<FinishReply> finishTogether(List<Finish> finished) {
    try {
      return applied(transitions.apply(finished.stream().map(this::decide).toList()));
    } catch (RuntimeException e) {
      if (SqlErrors.isTenantGone(e)) {
        return Collections.nCopies(finished.size(), new FinishReply.Lost());
      }
      throw e;
    }
  }

  /** Gives back jobs that never reached their worker and so cannot have begun; costs no attempt. */
  void giveBack(List<Lease> unheard) {
    finish(unheard.stream().map(lease -> new Finish(lease, new Outcome.NeverStarted())).toList());
    consequences.woken(); // other workers may wait for them
  }

  private FinishReply alone(Finish finish, RuntimeException why) {
    return SqlErrors.isBadData(why) ? asUnstorable(finish, why) : notNow(finish, why);
  }

  private FinishReply asUnstorable(Finish finish, RuntimeException why) {
    try {
      return applied(transitions.apply(List.of(decide(unstorable(finish, why))))).getFirst();
    } catch (RuntimeException e) { // a hook's, for example: the other ends need not wait for it
      if (SqlErrors.isPassing(e)) {
        throw e;
      }
      return notNow(finish, e);
    }
  }

  private static FinishReply notNow(Finish finish, RuntimeException why) {
    log.warn("The end of job {} cannot be recorded now", finish.lease().key().jobId(), why);
    return new FinishReply.NotNow(String.valueOf(why.getMessage()));
  }

  @Override
  public FinishReply finishInTransaction(Lease lease, TransactionWork work) throws Exception {
    try {
      FinishReply reply =
          applied(handlers.inUnhurriedTransaction(handle -> finish(handle, lease, work)))
              .getFirst();
      return reply instanceof FinishReply.Recorded(JobState state) && state != JobState.SUCCEEDED
          ? new FinishReply.NotNow("the job is to end as " + state.stored())
          : reply;
    } catch (HandlersOwn e) {
      throw e.thrown;
    }
  }

  private Applied finish(Handle handle, Lease lease, TransactionWork work) throws Exception {
    Payload result = run(work, handle.getConnection());
    Db.continueAsOurs(handle);
    // Last, so that the job's row is locked for a moment only and beats go on meanwhile.
    Finish success = new Finish(lease, Outcome.succeeded(result));
    Applied ended = transitions.apply(handle, List.of(decide(success)));
    if (!SUCCESS.equals(ended.replies().getFirst())) {
      handle.rollback(); // also if the job ended as something else: the writes go, too
    }
    return ended;
  }

  // A handler may use JDBI itself, and gets its own exceptions back as they are.
  private static Payload run(TransactionWork work, Connection connection) throws Exception {
    try {
      return work.run(connection);
    } catch (JdbiException e) {
      throw new HandlersOwn(e);
    }
  }

  private static final class HandlersOwn extends Exception {
    private static final long serialVersionUID = 1L;
    private final JdbiException thrown;

    HandlersOwn(JdbiException thrown) {
      super(thrown);
      this.thrown = thrown;
    }
  }

  private Ended decide(Finish finish) {
    return Ended.reported(finish, dice);
  }

  private List<FinishReply> applied(Applied applied) {
    if (applied.woken() > 0) {
      consequences.woken();
    }
    return applied.replies();
  }

  private static Finish unstorable(Finish finish, RuntimeException why) {
    return new Finish(finish.lease(), Outcome.failed(Failure.unstorable(SqlErrors.message(why))));
  }
}
