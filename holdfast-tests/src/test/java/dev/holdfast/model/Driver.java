package dev.holdfast.model;

import dev.holdfast.invariant.Invariants;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Claimed;
import dev.holdfast.lease.Extension;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.lease.Reaper;
import dev.holdfast.model.Command.Beat;
import dev.holdfast.model.Command.Claim;
import dev.holdfast.model.Command.Do;
import dev.holdfast.model.Command.Drain;
import dev.holdfast.model.Command.End;
import dev.holdfast.model.Command.Enqueue;
import dev.holdfast.model.Command.Finish;
import dev.holdfast.model.Command.FreeResource;
import dev.holdfast.model.Command.How;
import dev.holdfast.model.Command.Inspect;
import dev.holdfast.model.Command.Reap;
import dev.holdfast.model.Command.SetCapacity;
import dev.holdfast.model.Command.Tick;
import dev.holdfast.queue.Changes;
import dev.holdfast.rig.People;
import dev.holdfast.rig.Sandbox;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/** Does each command to the engine and to the model, and compares them after it. */
final class Driver {

  static final int A_WHILE_SECONDS = 7;

  static final Set<String> KINDS = Set.of("deploy", "check");

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private record Remembered(String worker, List<Lease> leases) {}

  private final Sandbox sandbox;
  private final Tally tally;
  private final Model model = new Model(START.toEpochMilli());
  private final AttemptRules attempts = new AttemptRules(model);
  private final ActRules rules = new ActRules(model, attempts);
  private final People people;
  private final Invariants invariants;
  private final PgLeases leases;
  private final Reaper reaper;
  private final Map<Integer, List<Lease>> leasesOf = new HashMap<>();
  private final Map<String, Remembered> claims = new HashMap<>();
  private int actsDone; // each is recorded
  private Snapshot before;

  Driver(Sandbox sandbox, Tally tally) throws SQLException {
    this.sandbox = sandbox;
    this.tally = tally;
    people = new People(sandbox.acts());
    invariants = new Invariants(sandbox.tenant());
    RandomGenerator noDice = () -> 0;
    // A clock that stands still: claims begin at the start of each lane.
    leases = new PgLeases(sandbox.tenant(), Set::of, new LanePositions(() -> 0), noDice, () -> {});
    reaper = new Reaper(sandbox.tenant(), noDice, () -> {});
    sandbox.empty();
    sandbox.setClock(START);
    before = Snapshot.of(sandbox);
  }

  ActRules rules() {
    return rules;
  }

  Model model() {
    return model;
  }

  /** Jobs for which something is kept. */
  List<ModelJob> reserving() {
    return model.jobs().stream()
        .filter(job -> before.reservations().stream().anyMatch(kept -> kept.job().equals(job.id)))
        .toList();
  }

  int leaseCount(int job) {
    return leasesOf.getOrDefault(job, List.of()).size();
  }

  Map<String, String> claimIds() {
    Map<String, String> workers = new HashMap<>();
    claims.forEach((id, claim) -> workers.put(id, claim.worker));
    return workers;
  }

  /** Throws a {@link Disagreement} when something is not as the rules say. */
  void run(Command command) throws SQLException {
    switch (command) {
      case Enqueue enqueue -> after(enqueue, enqueue(enqueue));
      case Claim claim -> claim(claim);
      case Beat beat -> after(beat, beat(beat));
      case Finish finish -> after(finish, finish(finish));
      case Tick(int seconds) -> {
        model.tick(seconds);
        sandbox.setClock(Instant.ofEpochMilli(model.now()));
        after(command, List.of());
      }
      case Reap() -> {
        reap();
        after(command, List.of());
      }
      case Inspect() -> {
        reap(); // what silent workers left behind too long ago is room, for the product's views
        after(command, violations());
      }
      case Do act -> after(act, act(act));
      case SetCapacity(String resource, int capacity) -> {
        sandbox.resources().setCapacity(resource, capacity, People.ADA);
        model.setCapacity(resource, capacity);
        actsDone++;
        after(command, List.of());
      }
      case FreeResource(String resource) -> {
        sandbox.resources().release(resource, People.ADA);
        model.freeResource(resource);
        actsDone++;
        after(command, List.of());
      }
      case Drain() -> new Drainage(this).run();
    }
  }

  private void after(Command command, List<String> complaints) throws SQLException {
    after(command, complaints, snapshot(), Set.of());
  }

  private void after(
      Command command, List<String> complaints, Snapshot after, Set<String> claimedKinds) {
    List<String> all = new ArrayList<>(complaints);
    all.addAll(Agreement.complaints(model, actsDone, after));
    if (all.isEmpty()) {
      all.addAll(WaitingRules.complaints(model, before, after, claimedKinds));
    }
    tally.count(command);
    tally.count(model, before, after);
    if (!all.isEmpty()) {
      throw new Disagreement(command, all);
    }
    before = after;
  }

  private Snapshot snapshot() throws SQLException {
    long began = System.nanoTime();
    Snapshot snapshot = Snapshot.of(sandbox);
    tally.count("µs reading tables", (System.nanoTime() - began) / 1_000);
    return snapshot;
  }

  private List<String> violations() {
    long began = System.nanoTime();
    List<String> violations = invariants.check().stream().map(String::valueOf).toList();
    tally.count("µs reading views", (System.nanoTime() - began) / 1_000);
    return violations;
  }

  private void reap() {
    reaper.runOnce();
    attempts.reap();
  }

  private List<String> enqueue(Enqueue enqueue) {
    model.enqueue(
        enqueue.job(), sandbox.jobs().enqueue(JobFromSpec.job(enqueue)).id(), enqueue.spec());
    return List.of();
  }

  private void claim(Claim claim) throws SQLException {
    ClaimRequest request =
        ClaimRequest.of(claim.worker(), Set.of("default"), claim.limit()).thoroughly();
    if (!claim.kinds().isEmpty()) {
      request = request.withKinds(claim.kinds());
    }
    if (claim.claimId().isPresent()) {
      request = request.withClaimId(claim.claimId().get());
    }
    Optional<Remembered> repeated = claim.claimId().map(claims::get);
    Claimed claimed = leases.claim(request);
    Snapshot after = snapshot();
    Set<String> kinds = claim.kinds().isEmpty() ? KINDS : claim.kinds();
    if (repeated.isPresent()) {
      tally.count("claims repeated");
      after(claim, repeated(claim, repeated.get(), claimed), after, Set.of());
      return;
    }
    List<ModelJob> jobs = claimed.leases().stream().map(lease -> jobOf(lease)).toList();
    List<String> complaints = new ArrayList<>();
    boolean saysThereIsMore = claimed.nextDueIn().equals(Optional.of(Duration.ZERO));
    complaints.addAll(
        new ClaimRules(model, before, after, claim, jobs).complaints(saysThereIsMore));
    // Plain jobs and those with needs are granted by two statements, so fences come in any order.
    claimed.leases().stream()
        .sorted((one, other) -> Long.compare(one.key().fence(), other.key().fence()))
        .forEach(lease -> {
          ModelJob job = jobOf(lease);
          leasesOf.computeIfAbsent(job.number, number -> new ArrayList<>()).add(lease);
          model.grant(job, claim.worker(), lease.key().fence()).ifPresent(complaints::add);
        });
    if (!jobs.isEmpty()) {
      claim
          .claimId()
          .ifPresent(id -> claims.put(id, new Remembered(claim.worker(), claimed.leases())));
    }
    tally.count("claims granted", jobs.size());
    after(claim, complaints, after, kinds);
  }

  private List<String> repeated(Claim claim, Remembered first, Claimed claimed) {
    Set<Object> expected = new java.util.HashSet<>();
    if (first.worker.equals(claim.worker())) {
      first.leases.stream()
          .filter(lease -> model.isCurrent(jobOf(lease), lease.key().fence()))
          .forEach(lease -> {
            expected.add(lease.key());
            model.beat(jobOf(lease)); // whoever asks again begins anew
          });
    }
    Set<Object> found = new java.util.HashSet<>();
    claimed.leases().forEach(lease -> found.add(lease.key()));
    return expected.equals(found)
        ? List.of()
        : List.of("repeated claim got " + found + " instead of " + expected);
  }

  private ModelJob jobOf(Lease lease) {
    return model.everKnown(lease.key().jobId());
  }

  Optional<Lease> lease(int job, int number) {
    List<Lease> all = leasesOf.getOrDefault(job, List.of());
    return number < all.size() ? Optional.of(all.get(number)) : Optional.empty();
  }

  private List<String> beat(Beat beat) {
    Optional<Lease> lease = lease(beat.job(), beat.lease());
    if (lease.isEmpty()) {
      return List.of();
    }
    Extension.Status status = leases.extend(List.of(lease.get())).getFirst().status();
    ModelJob job = jobOf(lease.get());
    Extension.Status expected = Extension.Status.LOST;
    if (model.isCurrent(job, lease.get().key().fence())) {
      model.beat(job);
      expected =
          job.phase == ModelJob.Phase.STOPPING
              ? Extension.Status.STOP_REQUESTED
              : Extension.Status.EXTENDED;
    }
    return status == expected
        ? List.of()
        : List.of("beat for " + job + " got " + status + " instead of " + expected);
  }

  private List<String> finish(Finish finish) {
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

  private Changes changes(Do act) {
    return new Changes(
        act.change().runInSeconds().map(in -> Instant.ofEpochMilli(model.now() + in * 1_000L)),
        act.change().priority(),
        Optional.empty());
  }

  private List<String> act(Do act) {
    Optional<ModelJob> job = model.job(act.job());
    if (job.isEmpty()) {
      return List.of();
    }
    boolean allowed = rules.isAllowed(job.get(), act.act(), act.force());
    boolean done = people.perform(act.act(), act.force(), job.get().id, changes(act));
    String what = "%s of %s that is %s".formatted(act.act(), job.get(), job.get().phase);
    tally.count(act, job.get().phase, done);
    if (allowed) {
      rules.perform(job.get(), act);
      actsDone++;
    }
    return allowed == done ? List.of() : List.of(what + (done ? " was allowed" : " was refused"));
  }
}
