package dev.holdfast.lease;

import java.util.List;

/** Grants, renews and ends leases. One worker loop serves every implementation. Thread-safe. */
public interface LeaseSource {

  /** Leases at most {@code request.limit()} jobs, in the order they are to run. */
  Claimed claim(ClaimRequest request);

  /** Renews leases, each for its own length; answers in the order asked. */
  List<Extension> extend(List<Lease> leases);

  /**
   * Stores progress, log lines, usage and items, all or nothing. A report that brings a job's
   * results to the count that its policy asks for also ends the job as succeeded.
   */
  ReportReply report(Lease lease, Report report);

  /** Records how attempts ended; answers in the order given. */
  List<FinishReply> finish(List<Finish> finished);

  /**
   * Runs {@code work} and records success in one transaction; rolls back both if the lease is lost.
   */
  FinishReply finishInTransaction(Lease lease, TransactionWork work) throws Exception;

  /** Hints that a tenant may have work, for sources that serve many tenants. Does not block. */
  default void announced(String tenant) {}
}
