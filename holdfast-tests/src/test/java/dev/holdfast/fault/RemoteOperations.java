package dev.holdfast.fault;

import static dev.holdfast.fault.Ground.WORKER;
import static dev.holdfast.fault.Ground.job;
import static dev.holdfast.fault.LeaseOperations.GUARDED;

import dev.holdfast.fault.Operation.Action;
import dev.holdfast.fault.Operation.Trait;
import dev.holdfast.fleet.FencelessAgents;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.FencelessReports;
import dev.holdfast.lease.FencelessReports.AgentReport;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.RemoteLeases.Dealt;
import dev.holdfast.lease.RemoteLeases.End;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What workers do that are somewhere else: claim together, start, stop, end, and agents' reports.
 */
final class RemoteOperations {

  private static final AgentReport RUNS =
      new AgentReport(
          "running",
          Optional.of("c1"),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());

  private RemoteOperations() {}

  static List<Operation> all() {
    return List.of(
        Operation.ofWorker("claim for two, with ids", RemoteOperations::shared),
        // If that fails it waits on, and others who wait with it get theirs.
        Operation.ofWorker("claim again what was dealt, with its id", RemoteOperations::sharedAgain)
            .with(Trait.MAY_DO_A_PART),
        Operation.ofWorker("claim with an id once more", RemoteOperations::again),
        Operation.ofWorker("start what was dispatched", RemoteOperations::start),
        // Asked twice to stop it says the second time that there was nothing left to ask.
        Operation.ofWorker("ask its own job to stop", RemoteOperations::askStop),
        Operation.ofWorker("end, from elsewhere", RemoteOperations::end),
        Operation.ofWorker("end once more, from elsewhere", RemoteOperations::endAgain).inSteps(0),
        Operation.of("say late, from elsewhere, that the work is over", RemoteOperations::endLate),
        Operation.ofWorker("extend, from elsewhere", RemoteOperations::extend),
        Operation.of("agents beat", RemoteOperations::beat).with(Trait.MAY_SAY_TWICE),
        Operation.of("agents were given work", RemoteOperations::given),
        Operation.of("an agent says how it goes", RemoteOperations::say),
        Operation.of("words of agents renew leases", RemoteOperations::renew),
        Operation.of("agents that said nothing are forgotten", RemoteOperations::forget));
  }

  private static final List<ClaimRequest> TWO =
      List.of(
          Ground.request().withLimit(1).withClaimId("one"),
          ClaimRequest.of("worker-2", Ground.request().queues(), 2)
              .thoroughly()
              .withClaimId("two"));

  private static String hands(Dealt dealt) {
    return dealt.hands().stream()
        .map(hand -> hand.map(leases -> leases.size()).orElse(0))
        .toList()
        .toString();
  }

  private static Action shared(Ground ground) {
    ground.enqueue(GUARDED, job("a"), job("b"));
    return engine -> hands(engine.leases().remote().claimForAll(TWO));
  }

  private static Action sharedAgain(Ground ground) {
    ground.enqueue(GUARDED, job("a"), job("b"));
    Dealt unused = ground.engine().leases().remote().claimForAll(TWO);
    ground.later(3);
    List<ClaimRequest> one = List.of(TWO.getFirst());
    return engine -> hands(engine.leases().remote().claimForAll(one));
  }

  private static Action again(Ground ground) {
    ground.enqueue(GUARDED, job("a"));
    ClaimRequest request = Ground.request().withClaimId("c");
    List<Lease> unused = ground.engine().leases().claim(request).leases();
    ground.later(3);
    return engine -> engine.leases().claim(request).leases().size() + " leases";
  }

  private static Lease dispatched(Ground ground) {
    ground.enqueue(GUARDED);
    return ground.engine().leases().claim(Ground.request().acknowledging()).leases().getFirst();
  }

  private static Action start(Ground ground) {
    Lease lease = dispatched(ground);
    ground.later(3);
    return engine ->
        engine.leases().remote().start(WORKER, List.of(lease.key())).getFirst().status().name();
  }

  private static Action askStop(Ground ground) {
    Lease lease = ground.running(GUARDED);
    return engine -> {
      boolean unused = engine.leases().remote().requestStop(WORKER, lease.key());
      return "";
    };
  }

  private static Action ended(Lease lease) {
    End end =
        new End(
            WORKER,
            lease.key().jobId(),
            lease.key().fence(),
            Outcome.succeeded(),
            Optional.empty());
    return engine -> engine.leases().remote().finish(List.of(end)).toString();
  }

  private static Action end(Ground ground) {
    return ended(ground.running(job("a")));
  }

  private static Action endAgain(Ground ground) throws Exception {
    Action end = end(ground);
    String unused = end.run(ground.engine());
    return end;
  }

  private static Action endLate(Ground ground) {
    Lease lost = ground.running(GUARDED);
    ground.later(31);
    ground.engine().reaper().runOnce();
    return ended(lost);
  }

  private static Action extend(Ground ground) {
    Lease lease = ground.running(GUARDED);
    ground.later(3);
    return engine ->
        engine
            .leases()
            .remote()
            .extend(WORKER, List.of(lease.key()), Optional.empty())
            .getFirst()
            .status()
            .name();
  }

  private static Action beat(Ground ground) {
    return engine -> {
      new FencelessAgents(engine.tenant()).beat(Map.of("agent-1", Optional.of("{\"load\":1}")));
      return "";
    };
  }

  private static Action given(Ground ground) {
    Lease lease = dispatched(ground);
    return engine -> {
      new FencelessReports(engine.tenant()).given(List.of(lease));
      return "";
    };
  }

  private static Lease heard(Ground ground) throws Exception {
    Lease lease = dispatched(ground);
    new FencelessAgents(ground.engine().tenant()).beat(Map.of(WORKER, Optional.empty()));
    new FencelessReports(ground.engine().tenant()).given(List.of(lease));
    ground.later(3);
    return lease;
  }

  private static Action say(Ground ground) throws Exception {
    Lease lease = heard(ground);
    return engine ->
        String.valueOf(
            new FencelessReports(engine.tenant())
                .say(WORKER, lease.key(), JobState.DISPATCHED, RUNS));
  }

  private static Action renew(Ground ground) throws Exception {
    Lease lease = heard(ground);
    boolean unused =
        new FencelessReports(ground.engine().tenant())
            .say(WORKER, lease.key(), JobState.DISPATCHED, RUNS);
    ground.execute("UPDATE {schema}.job SET lease_expires_at = lease_expires_at - interval '1 s'");
    return engine -> String.valueOf(new FencelessReports(engine.tenant()).renewAll());
  }

  private static Action forget(Ground ground) throws Exception {
    new FencelessAgents(ground.engine().tenant()).beat(Map.of("agent-1", Optional.empty()));
    ground.later(600);
    return engine -> {
      int unused = new FencelessAgents(engine.tenant()).forget(java.time.Duration.ofMinutes(5));
      return "";
    };
  }
}
