package dev.holdfast.model;

import dev.holdfast.job.Failure;
import dev.holdfast.job.Item;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Claimed;
import dev.holdfast.lease.Extension.Status;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.lease.Report;
import dev.holdfast.lease.ReportReply;
import dev.holdfast.model.Command.AskStop;
import dev.holdfast.model.Command.Beat;
import dev.holdfast.model.Command.Claim;
import dev.holdfast.model.Command.End;
import dev.holdfast.model.Command.Finish;
import dev.holdfast.model.Command.How;
import dev.holdfast.model.Command.Start;
import dev.holdfast.model.Command.Tell;
import dev.holdfast.model.ModelJob.Phase;
import dev.holdfast.model.ReportRules.Answer;
import dev.holdfast.tenant.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What workers do, to the engine and to the model: each answers what is wrong with the engine's
 * reply. They keep every lease they ever got, as workers do that fell silent and come back.
 */
final class Workers {

  static final int A_WHILE_SECONDS = 7;

  private static final Set<String> QUEUES = Set.of("default", "narrow");

  private record Remembered(String worker, List<Lease> leases) {}

  private final Model model;
  private final AttemptRules attempts;
  private final ReportRules reports;
  private final Tally tally;
  private final PgLeases leases;
  private final Map<Integer, List<Lease>> leasesOf = new HashMap<>();
  private final Map<String, Remembered> claims = new HashMap<>();

  Workers(Tenant tenant, Model model, AttemptRules attempts, Tally tally) {
    this.model = model;
    this.attempts = attempts;
    this.reports = new ReportRules(model, attempts, tally);
    this.tally = tally;
    // A clock that stands still: claims begin at the start of each lane.
    this.leases = new PgLeases(tenant, Set::of, new LanePositions(() -> 0), () -> 0, () -> {});
  }

  int leaseCount(int job) {
    return leasesOf.getOrDefault(job, List.of()).size();
  }

  Optional<Lease> lease(int job, int number) {
    List<Lease> all = leasesOf.getOrDefault(job, List.of());
    return number < all.size() ? Optional.of(all.get(number)) : Optional.empty();
  }

  /** Who claimed under which id. */
  Map<String, String> claimIds() {
    Map<String, String> workers = new HashMap<>();
    claims.forEach((id, claim) -> workers.put(id, claim.worker));
    return workers;
  }

  /** The tenant is another one, which knows nothing of earlier claims. */
  void makeAnew() {
    claims.clear();
  }

  boolean isRepeated(Claim claim) {
    return claim.claimId().filter(claims::containsKey).isPresent();
  }

  Claimed claim(Claim claim) {
    ClaimRequest request = ClaimRequest.of(claim.worker(), QUEUES, claim.limit()).thoroughly();
    if (!claim.kinds().isEmpty()) {
      request = request.withKinds(claim.kinds());
    }
    if (claim.claimId().isPresent()) {
      request = request.withClaimId(claim.claimId().get());
    }
    return leases.claim(claim.acknowledges() ? request.acknowledging() : request);
  }

  /** What is wrong with a claim that got something, or nothing, for the first time. */
  List<String> granted(Claim claim, Claimed claimed, Snapshot before, Snapshot after) {
    List<ModelJob> jobs = claimed.leases().stream().map(this::jobOf).toList();
    boolean saysThereIsMore = claimed.nextDueIn().equals(Optional.of(Duration.ZERO));
    List<String> complaints =
        new ArrayList<>(
            new ClaimRules(model, before, after, claim, jobs).complaints(saysThereIsMore));
    // Plain jobs and those with needs are granted by two statements, so fences come in any order.
    claimed.leases().stream()
        .sorted((one, other) -> Long.compare(one.key().fence(), other.key().fence()))
        .forEach(lease -> {
          ModelJob job = jobOf(lease);
          leasesOf.computeIfAbsent(job.number, number -> new ArrayList<>()).add(lease);
          model
              .grant(job, claim.worker(), lease.key().fence(), claim.acknowledges())
              .ifPresent(complaints::add);
        });
    if (!jobs.isEmpty()) {
      claim
          .claimId()
          .ifPresent(id -> claims.put(id, new Remembered(claim.worker(), claimed.leases())));
    }
    tally.count("claims granted", jobs.size());
    return complaints;
  }

  /** What is wrong with a claim whose id is known. */
  List<String> repeated(Claim claim, Claimed claimed) {
    tally.count("claims repeated");
    Remembered first = claims.get(claim.claimId().orElseThrow());
    Set<Object> expected = new HashSet<>();
    if (first.worker.equals(claim.worker())) {
      first.leases.stream()
          .filter(lease -> model.isCurrent(jobOf(lease), lease.key().fence()))
          .forEach(lease -> {
            expected.add(lease.key());
            model.beat(jobOf(lease)); // whoever asks again begins anew
          });
    }
    Set<Object> found = new HashSet<>();
    claimed.leases().forEach(lease -> found.add(lease.key()));
    return same("repeated claim", found, expected);
  }

  private ModelJob jobOf(Lease lease) {
    return model.everKnown(lease.key().jobId());
  }

  private boolean isCurrent(Lease lease) {
    return model.isCurrent(jobOf(lease), lease.key().fence());
  }

  List<String> beat(Beat beat) {
    return lease(beat.job(), beat.lease()).map(this::beat).orElse(List.of());
  }

  private List<String> beat(Lease lease) {
    Status status = leases.extend(List.of(lease)).getFirst().status();
    if (isCurrent(lease)) {
      model.beat(jobOf(lease));
    }
    tally.count("beats " + statusOf(lease));
    return same("beat for " + jobOf(lease), status, statusOf(lease));
  }

  private Status statusOf(Lease lease) {
    if (!isCurrent(lease)) {
      return Status.LOST;
    }
    return jobOf(lease).phase == Phase.STOPPING ? Status.STOP_REQUESTED : Status.EXTENDED;
  }

  List<String> start(Start start) {
    return lease(start.job(), start.lease()).map(this::start).orElse(List.of());
  }

  private List<String> start(Lease lease) {
    Status status = leases.remote().start(lease.worker(), List.of(lease.key())).getFirst().status();
    ModelJob job = jobOf(lease);
    if (isCurrent(lease) && job.phase == Phase.DISPATCHED) {
      model.start(job);
      tally.count("dispatched and started");
    }
    return same("start of " + job, status, statusOf(lease));
  }

  List<String> askStop(AskStop ask) {
    return lease(ask.job(), ask.lease()).map(this::askStop).orElse(List.of());
  }

  private List<String> askStop(Lease lease) {
    boolean heard = leases.remote().requestStop(lease.worker(), lease.key());
    ModelJob job = jobOf(lease);
    boolean isToHear = isCurrent(lease) && job.phase != Phase.STOPPING;
    if (isToHear) {
      job.phase = Phase.STOPPING;
    }
    return same("own stop of " + job, heard, isToHear);
  }

  List<String> tell(Tell tell) {
    return lease(tell.job(), tell.lease()).map(lease -> tell(tell, lease)).orElse(List.of());
  }

  private List<String> tell(Tell tell, Lease lease) {
    Report report =
        new Report(
            Progress.NONE,
            List.of(),
            tell.tokens(),
            0,
            tell.items().stream().map(key -> new Item(key, new Payload("1"))).toList(),
            tell.key());
    Answer answer =
        switch (leases.report(lease, report)) {
          case ReportReply.Stored stored -> Answer.STORED;
          case ReportReply.Repeated repeated -> Answer.REPEATED;
          case ReportReply.Lost lost -> Answer.LOST;
        };
    ModelJob job = jobOf(lease);
    Answer expected = reports.tell(job, lease.key().fence(), tell);
    tally.count("reports " + expected);
    return same("report of " + job, answer, expected);
  }

  List<String> finish(Finish finish) {
    List<End> ends =
        finish.ends().stream().filter(end -> lease(end.job(), end.lease()).isPresent()).toList();
    if (ends.isEmpty()) {
      return List.of();
    }
    List<dev.holdfast.lease.Finish> reports =
        ends.stream()
            .map(end ->
                new dev.holdfast.lease.Finish(
                    lease(end.job(), end.lease()).orElseThrow(), outcome(end.how())))
            .toList();
    List<FinishReply> replies = leases.finish(reports);
    List<String> complaints = new ArrayList<>();
    for (int i = 0; i < ends.size(); i++) {
      Lease lease = reports.get(i).lease();
      new Replies(model, attempts, tally)
          .check(jobOf(lease), lease.key().fence(), ends.get(i).how(), replies.get(i))
          .ifPresent(complaints::add);
    }
    return complaints;
  }

  private static Outcome outcome(How how) {
    return switch (how) {
      case SUCCEEDED -> Outcome.succeeded();
      case FAILED -> Outcome.failed(Failure.retryable("OOPS", "once more"));
      case FAILED_FOR_GOOD -> Outcome.failed(Failure.permanent("OOPS", "never again"));
      case SNOOZED -> Outcome.snoozed(Duration.ZERO);
      case SNOOZED_A_WHILE -> Outcome.snoozed(Duration.ofSeconds(A_WHILE_SECONDS));
      case RELEASED -> new Outcome.Released("drain");
      case STOPPED -> new Outcome.Stopped();
    };
  }

  private static List<String> same(String what, Object found, Object expected) {
    return found.equals(expected)
        ? List.of()
        : List.of(what + " got " + found + " instead of " + expected);
  }
}
