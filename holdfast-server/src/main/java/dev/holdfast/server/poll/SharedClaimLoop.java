package dev.holdfast.server.poll;

import dev.holdfast.job.Job;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.queue.Jobs;
import dev.holdfast.server.tenancy.TenantServices;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims jobs for all waiting requests of a tenant at once: when work was announced, when a job is
 * due, or after a while. Not thread-safe; each instance runs on one thread.
 */
final class SharedClaimLoop {

  private static final Logger log = LoggerFactory.getLogger(SharedClaimLoop.class);

  // Work whose announcement was lost is found after this long, as by any worker.
  private static final Duration POLL = Duration.ofSeconds(2);
  private static final Duration LEAST = Duration.ofMillis(5);
  private static final Duration LONGEST_REST = Duration.ofMillis(8);
  private static final Duration HOSTS_KNOWN_FOR = Duration.ofSeconds(1);

  private final TenantName tenant;
  private final RemoteLeases leases;
  private final Jobs jobs;
  private Set<String> namedHosts = Set.of();
  private long lookedAtNanos = System.nanoTime() - HOSTS_KNOWN_FOR.toNanos() - 1;

  private SharedClaimLoop(TenantServices services) {
    this.tenant = services.tenant().name();
    this.leases = services.leases();
    this.jobs = services.jobs();
  }

  /** An empty set of waiting requests, which starts a loop when a request enters. */
  static WaitingClaims waiting(TenantServices services) {
    return new WaitingClaims(waiting ->
        Thread.ofVirtual()
            .name("holdfast-poll-" + services.tenant().name())
            .start(() -> new SharedClaimLoop(services).attend(waiting)));
  }

  private void attend(WaitingClaims waiting) {
    Duration pause = Duration.ZERO;
    while (waiting.awaitReason(pause)) {
      long beganNanos = System.nanoTime();
      pause = serveAllIfPossible(waiting);
      rest(System.nanoTime() - beganNanos);
    }
  }

  // Every worker that comes back causes another round. During the pause more of them gather to be
  // served together, and workers with jobs have half of the time to themselves.
  private static void rest(long tookNanos) {
    LockSupport.parkNanos(Math.min(tookNanos, LONGEST_REST.toNanos()));
  }

  // Whatever fails for one request, the loop must go on, or the others would wait for ever.
  private Duration serveAllIfPossible(WaitingClaims waiting) {
    try {
      return serveAll(waiting);
    } catch (RuntimeException e) {
      log.warn("Could not serve those who wait in tenant {}", tenant, e);
      return POLL;
    }
  }

  private Duration serveAll(WaitingClaims waiting) {
    lookAtHosts();
    Duration next = POLL;
    for (List<Waiter> alike : waiting.groups(namedHosts)) {
      Duration wait = serve(waiting, alike);
      next = wait.compareTo(next) < 0 ? wait : next;
    }
    return next;
  }

  // A worker that names no host is its own host, so no two requests would be alike. Since few jobs
  // require a host, only hosts that jobs name are told apart.
  private void lookAtHosts() {
    long now = System.nanoTime();
    if (now - lookedAtNanos > HOSTS_KNOWN_FOR.toNanos()) {
      try {
        namedHosts = leases.namedHosts();
        lookedAtNanos = now;
      } catch (RuntimeException e) {
        log.debug("Could not look which hosts jobs ask for; the claim will say why", e);
      }
    }
  }

  private Duration serve(WaitingClaims waiting, List<Waiter> alike) {
    try {
      RemoteLeases.Dealt dealt =
          leases.claimForAll(alike.stream().map(waiter -> waiter.request).toList());
      deal(alike, dealt.hands());
      boolean everybody = dealt.hands().stream().allMatch(Optional::isPresent);
      Optional<Duration> due = dealt.nextDueIn();
      return everybody
          ? LEAST
          : due.filter(wait -> wait.compareTo(LEAST) > 0).orElse(due.isPresent() ? LEAST : POLL);
    } catch (RuntimeException | Error e) { // otherwise they would wait for ever
      log.debug("Could not claim for those who wait in tenant {}", tenant, e);
      alike.forEach(waiter -> waiter.answer.completeExceptionally(e));
      return POLL;
    } finally {
      waiting.served(alike);
    }
  }

  // The leases are granted: from here on, each one reaches its worker or is given back.
  private void deal(List<Waiter> alike, List<Optional<List<Lease>>> dealt) {
    Map<Waiter, LeaseDelivery> hands = new LinkedHashMap<>();
    List<Lease> all = new ArrayList<>();
    for (int i = 0; i < alike.size(); i++) {
      Waiter waiter = alike.get(i);
      dealt
          .get(i)
          .ifPresent(given -> {
            hands.put(waiter, LeaseDelivery.of(leases, waiter.request, given));
            all.addAll(given);
          });
    }
    Map<UUID, Job> looked;
    try {
      looked = LeaseDelivery.look(all, jobs);
    } catch (RuntimeException e) {
      hands.values().forEach(LeaseDelivery::giveBack);
      throw e;
    }
    hands.forEach((waiter, delivery) -> answer(waiter, delivery.knowing(looked)));
  }

  private static void answer(Waiter waiter, LeaseDelivery delivery) {
    // Now that there are leases to deliver, this reads from the connection in every case.
    boolean taken = !waiter.isGone() && waiter.answer.complete(delivery);
    if (!taken) {
      delivery.giveBack();
      waiter.answer.complete(LeaseDelivery.EMPTY);
    }
  }
}
