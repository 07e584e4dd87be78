package dev.holdfast.worker;

import dev.holdfast.codec.Codec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Item;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Progress;
import dev.holdfast.job.SlotKey;
import dev.holdfast.job.TraceContext;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.ReportReply;
import dev.holdfast.lease.TransactionWork;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;

/**
 * What a handler knows about its attempt, and what it can report while it runs. Every report is
 * guarded by the fence: after a lost lease nothing more is stored. Thread-safe.
 */
public final class JobContext {

  private final Running running;
  private final AttemptReports reports;
  private final Codec codec;

  JobContext(AttemptReports reports, Codec codec) {
    this.running = reports.running();
    this.reports = reports;
    this.codec = codec;
  }

  public UUID jobId() {
    return lease().key().jobId();
  }

  public String tenant() {
    return lease().key().tenant();
  }

  public String kind() {
    return lease().kind();
  }

  /** The trace that the job belongs to, as given when it was enqueued. */
  public Optional<TraceContext> trace() {
    return lease().policy().trace();
  }

  public String queue() {
    return lease().queue();
  }

  /** Counts from 1. */
  public int attempt() {
    return lease().attempt().number();
  }

  /** Whether a failure of this attempt would not be tried again. */
  public boolean isLastAttempt() {
    return lease().attempt().isLastOf(lease().policy());
  }

  /** The slot of a schedule that the job runs for, if any. */
  public Optional<SlotKey> slot() {
    return lease().slot();
  }

  /**
   * Larger for every later grant of this job. A protected resource that remembers the largest fence
   * it has seen can refuse a worker that lost its lease without knowing it.
   */
  public long fence() {
    return lease().key().fence();
  }

  /** How far the earlier attempts came. */
  public Progress lastProgress() {
    return lease().progress();
  }

  /** The last cursor that earlier attempts stored. */
  public Optional<String> lastCursor() {
    return lease().progress().cursor();
  }

  /**
   * Whether the handler is to end: it was interrupted, for example because a stop was requested or
   * the lease is lost, or the worker closes and will not wait much longer. A handler that returns
   * normally after it was told so has not succeeded; one that has finished all the same says so
   * with its outcome.
   */
  public boolean shouldStop() {
    return running.shouldStop();
  }

  /**
   * How long the lease certainly lasts, by this process's own clock, if no heartbeat gets through
   * any more; negative when another worker may have the job by now. For handlers whose work runs
   * outside of this process and must end whatever becomes of the process.
   */
  public Duration leaseLeft() {
    return running.leaseLeft(System.nanoTime());
  }

  /**
   * How long before the end of the lease the handler is interrupted when no heartbeat got through:
   * the time that it has to stop.
   */
  public Duration stopMargin() {
    return running.margin();
  }

  /** The outcome of a handler that returned without one: cut short, if it was told to stop. */
  Outcome returned() {
    return running.returned();
  }

  /** Reports progress, stored within a second or so; the last value of each field wins. */
  public void progress(Progress progress) {
    reports.add(progress);
  }

  /** Adds a line to the job's log, stored within a second or so. */
  public void log(String line) {
    reports.add(Objects.requireNonNull(line, "line"));
  }

  /** Adds to the tokens that the job has used; over its policy's limit, the job is told to stop. */
  public void usage(long inputTokens, long outputTokens) {
    if (inputTokens < 0 || outputTokens < 0) {
      throw HoldfastException.invalid("usage", inputTokens + ", " + outputTokens, "0 or more");
    }
    reports.addUsage(inputTokens, outputTokens);
  }

  /**
   * Stores items that the job found or made, now; each key once. Safe to repeat. If they complete
   * the results that the job is for, the job has succeeded, and nothing more is stored.
   *
   * @throws HoldfastException with {@link ErrorCode#LEASE_LOST} when the job is no longer ours
   */
  public ReportReply.Stored items(List<Item> items) {
    return reports.items(items);
  }

  /**
   * Stores the cursor now, with everything reported before. When this returns, the next attempt
   * starts from there.
   *
   * @throws HoldfastException with {@link ErrorCode#LEASE_LOST} when the job is no longer ours
   */
  public void checkpoint(String cursor) {
    progress(Progress.NONE.withCursor(cursor));
    reports.flushOrRefuse();
  }

  /**
   * Runs the handler's own writes and the completion of its job in one transaction: both happen or
   * neither does. Call it last; its result is the job's result.
   *
   * @throws HoldfastException with {@link ErrorCode#LEASE_LOST} when the job is no longer ours,
   *     with {@link ErrorCode#STATE_CONFLICT} when it is not to succeed any more, for example
   *     because it went over a limit; the writes are rolled back
   */
  public void inTransaction(TransactionWork work) throws Exception {
    reports.finishWith(work);
  }

  /** A result for {@code Outcome.succeeded}. */
  public Payload payload(Object value) {
    return new Payload(codec.encode(value));
  }

  /**
   * Stores what was reported and is not yet stored, now; false when the lease is lost. For handlers
   * that log more lines in a second than one report has room for.
   */
  public boolean flush() {
    return reports.flush();
  }

  private Lease lease() {
    return running.lease();
  }
}
