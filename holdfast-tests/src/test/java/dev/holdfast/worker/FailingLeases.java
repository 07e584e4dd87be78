package dev.holdfast.worker;

import dev.holdfast.job.Attempt;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Needs;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Claimed;
import dev.holdfast.lease.Extension;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseKey;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.lease.Report;
import dev.holdfast.lease.ReportReply;
import dev.holdfast.lease.TransactionWork;
import dev.holdfast.loop.SpareThreads;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;

/** Records what it is asked; fails while the database is away. */
final class FailingLeases implements LeaseSource {

  static final Duration LEASE = Duration.ofSeconds(30);

  final List<UUID> finished = new ArrayList<>();
  final Set<UUID> refused = new HashSet<>();
  final List<Outcome> outcomes = new ArrayList<>();
  final Queue<Lease> toGrant = new ArrayDeque<>();
  final CountDownLatch threeBeats = new CountDownLatch(3);
  final List<Report> reports = new ArrayList<>();
  final CountDownLatch reporting = new CountDownLatch(1);
  final CountDownLatch answering = new CountDownLatch(1);
  boolean silent; // reports are answered when somebody says so
  boolean away;
  boolean broken; // in a way that nobody expects
  boolean refusesForNow; // as a hook does that cannot go on
  long answeredNanos;
  int extended;
  Extension.Status answer = Extension.Status.EXTENDED;

  /** An attempt under such a lease. */
  Running running(InFlight inFlight, long nowNanos) {
    return reports(inFlight, nowNanos, SpareThreads.named("holdfast-report")).running();
  }

  /** What the handler of an attempt under such a lease reports. */
  AttemptReports reports(InFlight inFlight, long nowNanos, Executor reporting) {
    AttemptReports reports =
        new AttemptReports(new Running(lease(LEASE), nowNanos, reporting), this);
    inFlight.add(reports);
    return reports;
  }

  static Lease lease(Duration length) {
    return new Lease(
        new LeaseKey("default", UUID.randomUUID(), 7),
        "worker",
        "kind",
        "default",
        Payload.NULL,
        new Attempt(1, 0, 0),
        Policy.DEFAULTS,
        Needs.NOTHING,
        Progress.NONE,
        Instant.EPOCH,
        length,
        Instant.EPOCH.plus(length),
        Optional.empty());
  }

  @Override
  public Claimed claim(ClaimRequest request) {
    return Optional.ofNullable(toGrant.poll())
        .map(lease -> new Claimed(List.of(lease), Optional.empty()))
        .orElse(Claimed.NOTHING);
  }

  @Override
  public List<Extension> extend(List<Lease> leases) {
    failIfAway();
    answeredNanos = System.nanoTime();
    extended += leases.size();
    threeBeats.countDown();
    return leases.stream().map(lease -> new Extension(lease.key(), answer)).toList();
  }

  @Override
  public ReportReply report(Lease lease, Report report) {
    failIfAway();
    if (silent) {
      reporting.countDown();
      awaitUninterruptibly(answering);
    }
    reports.add(report);
    return new ReportReply.Stored(0, 0);
  }

  @Override
  public List<FinishReply> finish(List<Finish> ended) {
    failIfAway();
    if (broken) {
      throw new StackOverflowError("of the database");
    }
    if (refusesForNow) {
      ended.forEach(finish -> refused.add(finish.lease().key().jobId()));
      return Collections.nCopies(ended.size(), new FinishReply.NotNow("a hook failed"));
    }
    ended.forEach(finish -> {
      finished.add(finish.lease().key().jobId());
      outcomes.add(finish.outcome());
    });
    return ended.stream()
        .map(finish -> (FinishReply) new FinishReply.Recorded(JobState.SUCCEEDED))
        .toList();
  }

  @Override
  public FinishReply finishInTransaction(Lease lease, TransactionWork work) {
    throw new UnsupportedOperationException();
  }

  // As a socket's answer is waited for.
  private static void awaitUninterruptibly(CountDownLatch latch) {
    boolean interrupted = false;
    while (latch.getCount() > 0) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void failIfAway() {
    if (away) {
      throw new IllegalStateException("the database is away");
    }
  }
}
