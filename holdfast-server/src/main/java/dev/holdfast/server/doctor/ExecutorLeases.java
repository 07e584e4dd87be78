package dev.holdfast.server.doctor;

import dev.holdfast.Holdfast;
import dev.holdfast.doctor.Check;
import dev.holdfast.doctor.Finding;
import dev.holdfast.server.ExecutorSettings;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Checks whether the leases of queues whose commands run here leave time to end a command. */
public final class ExecutorLeases implements Check {

  private final Holdfast holdfast;
  private final ExecutorSettings executors;

  public ExecutorLeases(Holdfast holdfast, ExecutorSettings executors) {
    this.holdfast = holdfast;
    this.executors = executors;
  }

  @Override
  public String name() {
    return "leases of commands";
  }

  @Override
  public Finding look() {
    if (executors.names().isEmpty()) {
      return Finding.ok(this, "no commands run here");
    }
    Duration shortest = executors.config().shortestLease();
    List<String> tooShort = new ArrayList<>();
    for (TenantName tenant : holdfast.tenants().list()) {
      for (String queue : executors.queues()) {
        holdfast
            .queues(tenant)
            .get(queue)
            .defaults()
            .leaseLength()
            .filter(lease -> lease.compareTo(shortest) < 0)
            .ifPresent(
                lease -> tooShort.add("%s/%s: %d s".formatted(tenant, queue, lease.toSeconds())));
      }
    }
    return tooShort.isEmpty()
        ? Finding.ok(this, "queues leave time to end a command")
        : Finding.fail(
            this,
            "too short, so that commands are refused: " + String.join("; ", tooShort),
            "give these queues lease_seconds of %d or more".formatted(shortest.toSeconds()));
  }
}
