package dev.holdfast.server.tenancy;

import dev.holdfast.audit.Audit;
import dev.holdfast.hold.Resources;
import dev.holdfast.invariant.Invariants;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.overview.Overview;
import dev.holdfast.queue.Acts;
import dev.holdfast.queue.Jobs;
import dev.holdfast.queue.Queues;
import dev.holdfast.schedule.Schedules;
import dev.holdfast.subject.Subjects;
import dev.holdfast.tenant.Tenant;

/**
 * One tenant's things, ready to hand.
 *
 * @param reserved some of them over the reserved connections, for beats
 */
public record TenantServices(
    Tenant tenant,
    Jobs jobs,
    Acts acts,
    Queues queues,
    Resources resources,
    Schedules schedules,
    Subjects subjects,
    Audit audit,
    Invariants invariants,
    Overview overview,
    RemoteLeases leases,
    ReservedServices reserved,
    Kinds kinds,
    Nodes nodes,
    Settings settings,
    Webhooks webhooks,
    PullSecret pullSecret) {

  /** What it takes to renew a lease while everything else waits. */
  public record ReservedServices(RemoteLeases leases, Jobs jobs, Settings settings) {}
}
