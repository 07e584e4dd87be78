package dev.holdfast.lease;

import java.util.List;

/**
 * Where the right to run comes from: claim, extend, report and finish. One worker loop serves every
 * implementation. Thread-safe.
 */
public interface LeaseSource {

  /** Leases at most {@code request.limit()} jobs, in the order they are to run. */
  Claimed claim(ClaimRequest request);

  /** Renews leases, each for its own length; answers in the order asked. */
  List<Extension> extend(List<Lease> leases);

  /**
   * Stores progress, log lines, usage and items, all or nothing. A job whose results have come to
   * the count that its policy asks for has succeeded with it.
   */
  ReportReply report(Lease lease, Report report);

  /** Records how attempts ended; answers in the order given. */
  List<FinishReply> finish(List<Finish> finished);

  /** Runs {@code work} and records its success in one transaction; rolls both back when lost. */
  FinishReply finishInTransaction(Lease lease, TransactionWork work) throws Exception;

  /** A tenant may have work: a hint for sources of many. Does not block. */
  default void announced(String tenant) {}
}
