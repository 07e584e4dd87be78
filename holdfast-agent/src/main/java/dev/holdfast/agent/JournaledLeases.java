package dev.holdfast.agent;

import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Claimed;
import dev.holdfast.lease.Extension;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.lease.Report;
import dev.holdfast.lease.ReportReply;
import dev.holdfast.lease.TransactionWork;
import java.util.List;

/** Leases that are written down before anything runs under them. Thread-safe. */
record JournaledLeases(LeaseSource leases, Journal journal) implements LeaseSource {

  @Override
  public Claimed claim(ClaimRequest request) {
    Claimed claimed = leases.claim(request);
    claimed.leases().forEach(journal::begun);
    return claimed;
  }

  @Override
  public List<Extension> extend(List<Lease> extended) {
    return leases.extend(extended);
  }

  @Override
  public ReportReply report(Lease lease, Report report) {
    ReportReply reply = leases.report(lease, report);
    if (reply instanceof ReportReply.Stored stored && stored.ended().isPresent()) {
      journal.settled(lease.key()); // it was the last of the results that the job is for
    }
    return reply;
  }

  @Override
  public List<FinishReply> finish(List<Finish> finished) {
    finished.forEach(journal::ended);
    List<FinishReply> replies = leases.finish(finished);
    for (int i = 0; i < replies.size(); i++) {
      if (!(replies.get(i) instanceof FinishReply.NotNow)) {
        journal.settled(finished.get(i).lease().key());
      }
    }
    return replies;
  }

  @Override
  public FinishReply finishInTransaction(Lease lease, TransactionWork work) throws Exception {
    return leases.finishInTransaction(lease, work);
  }
}
