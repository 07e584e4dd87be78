package dev.holdfast.server.dialect.agents;

import dev.holdfast.fleet.FencelessAgents;
import dev.holdfast.fleet.Hosts;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.FencelessReports;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.loop.Batcher;
import dev.holdfast.server.dialect.agents.AgentJobs.Offers;
import dev.holdfast.server.poll.LeaseDelivery;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Gives jobs to agents that ask, and takes note that they are there. Agents ask again and again,
 * mostly for nothing: those who ask at the same moment are served together, and nothing is claimed
 * unless something waits that one of them could have. Thread-safe.
 */
final class Dispatch implements Hosts {

  private static final int MOST_AT_ONCE = 500;

  private final FencelessAgents agents;
  private final AgentJobs jobs;
  private final FencelessReports reports;
  private final JobFiles files;
  private final Predicate<String> isDraining;
  private final RemoteLeases leases;
  private final Batcher<String, Optional<Lease>> asking = new Batcher<>(MOST_AT_ONCE);
  private final Batcher<Beat, Boolean> beating = new Batcher<>(MOST_AT_ONCE);
  private volatile Set<String> online = Set.of(); // when something was claimed last

  private record Beat(String name, Optional<String> info) {}

  /**
   * For one tenant.
   *
   * @param agents by connections that nobody else takes
   * @param isDraining whether an agent is to be given nothing more
   */
  Dispatch(
      FencelessAgents agents,
      AgentJobs jobs,
      FencelessReports reports,
      JobFiles files,
      Predicate<String> isDraining,
      Function<Hosts, RemoteLeases> leases) {
    this.agents = agents;
    this.jobs = jobs;
    this.reports = reports;
    this.files = files;
    this.isDraining = isDraining;
    this.leases = leases.apply(this);
  }

  /** Those that jobs prefer, and that are there to be offered them first. Who drains is not. */
  @Override
  public Set<String> online() {
    return online;
  }

  RemoteLeases leases() {
    return leases;
  }

  /** An agent is there; stored when this returns. */
  void beat(String name, Optional<String> info) {
    beating.ask(new Beat(name, info), this::beatAll);
  }

  private List<Boolean> beatAll(List<Beat> beats) {
    Map<String, Optional<String>> heard = new HashMap<>();
    beats.forEach(beat -> heard.merge(beat.name, beat.info, (old, now) -> now.or(() -> old)));
    agents.beat(heard);
    return beats.stream().map(beat -> true).toList();
  }

  /** The next job for an agent, dispatched to it and to be shown so; empty when there is none. */
  LeaseDelivery next(String agent) {
    beat(agent, Optional.empty()); // who asks is there, also while there is no way to look for jobs
    if (isDraining.test(agent)) {
      return LeaseDelivery.EMPTY; // what it has still runs
    }
    while (true) {
      Optional<Lease> given = asking.ask(agent, this::nextForAll);
      if (given.isEmpty() || Simulation.read(given.get().args().json()).isPresent()) {
        return LeaseDelivery.of(given.stream().toList(), this::takeBack);
      }
      refuse(given.get());
    }
  }

  private void takeBack(List<Lease> unheard) {
    leases.giveBack(unheard);
    unheard.forEach(lease -> files.show(lease.key().jobId()));
  }

  // Somebody enqueued it by other means, and it is nothing that an agent could run.
  private void refuse(Lease lease) {
    Failure failure =
        Failure.permanent("BAD_ARGS", "The arguments are not those of an agents' job");
    leases.finish(
        List.of(
            new RemoteLeases.End(
                lease.worker(),
                lease.key().jobId(),
                lease.key().fence(),
                Outcome.failed(failure),
                Optional.empty())));
    files.show(lease.key().jobId());
  }

  private List<Optional<Lease>> nextForAll(List<String> asked) {
    Map<String, Integer> counts = new LinkedHashMap<>();
    asked.forEach(agent -> counts.merge(agent, 1, Integer::sum));
    Map<String, Queue<Lease>> given =
        jobs.offers().map(offers -> claim(offers, counts)).orElse(Map.of());
    return asked.stream()
        .map(agent -> Optional.ofNullable(given.get(agent)).map(Queue::poll))
        .toList();
  }

  private Map<String, Queue<Lease>> claim(Offers offers, Map<String, Integer> counts) {
    online =
        offers.online().stream()
            .filter(Predicate.not(isDraining))
            .collect(Collectors.toUnmodifiableSet());
    List<ClaimRequest> named = new ArrayList<>();
    List<ClaimRequest> others = new ArrayList<>();
    counts.forEach((agent, count) -> {
      boolean isNamed = offers.hosts().contains(agent);
      (isNamed ? named : others).add(request(agent, isNamed ? agent : "", count, offers));
    });
    List<Lease> leased = new ArrayList<>();
    try {
      // Who is asked for by name first: what the others may have, too, is left to them later.
      named.forEach(request -> leased.addAll(claim(List.of(request))));
      if (offers.open() && !others.isEmpty()) {
        leased.addAll(claim(others));
      }
      reports.given(leased);
    } catch (RuntimeException e) {
      LeaseDelivery.of(leased, this::takeBack).giveBack(); // nobody will hear of them
      throw e;
    }
    Map<String, Queue<Lease>> given = new HashMap<>();
    leased.forEach(
        lease -> given.computeIfAbsent(lease.worker(), agent -> new ArrayDeque<>()).add(lease));
    return given;
  }

  private List<Lease> claim(List<ClaimRequest> alike) {
    return leases.claimForAll(alike).hands().stream()
        .flatMap(Optional::stream)
        .flatMap(Collection::stream)
        .toList();
  }

  private static ClaimRequest request(String agent, String host, int count, Offers offers) {
    return ClaimRequest.of(agent, Set.of(Simulation.QUEUE), count)
        .withKinds(Set.of(Simulation.KIND))
        .withPlace(host, Map.of())
        .withLeaseLength(offers.lease())
        .acknowledging()
        .thoroughly();
  }
}
