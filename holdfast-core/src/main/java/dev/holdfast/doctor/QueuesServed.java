package dev.holdfast.doctor;

import dev.holdfast.fleet.Workers;
import dev.holdfast.job.Limits;
import dev.holdfast.queue.QueueState;
import dev.holdfast.queue.Queues;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Checks that every queue with waiting jobs has a worker that claims, and is not paused. */
final class QueuesServed implements Check {

  private static final int SHOWN = 5;

  private final Tenants tenants;
  private final Function<TenantName, Queues> queues;

  QueuesServed(Tenants tenants, Function<TenantName, Queues> queues) {
    this.tenants = tenants;
    this.queues = queues;
  }

  @Override
  public String name() {
    return "queues";
  }

  @Override
  public Finding look() {
    List<String> unserved = new ArrayList<>();
    for (TenantName name : tenants.list()) {
      Set<String> served = served(name);
      queues.apply(name).list("", Limits.PAGE_ROWS).stream()
          .filter(queue -> queue.queued() > 0)
          .filter(queue -> queue.settings().paused() || !served.contains(queue.name()))
          .forEach(queue -> unserved.add(words(name, queue)));
    }
    return unserved.isEmpty()
        ? Finding.ok(this, "every one with jobs has a worker")
        : Finding.warn(
            this,
            String.join("; ", unserved.subList(0, Math.min(SHOWN, unserved.size()))),
            "start a worker for it, or resume it; holdfast jobs why says more");
  }

  private Set<String> served(TenantName tenant) {
    return new Workers(tenants.control())
        .list(tenant, "", Limits.PAGE_ROWS).stream()
            .filter(worker -> worker.online() && !worker.draining()) // who drains claims nothing
            .flatMap(worker -> worker.info().queues().stream())
            .collect(Collectors.toSet());
  }

  private static String words(TenantName tenant, QueueState queue) {
    return "%s/%s: %d jobs wait, %s"
        .formatted(
            tenant,
            queue.name(),
            queue.queued(),
            queue.settings().paused() ? "and it is paused" : "and no worker that claims is online");
  }
}
