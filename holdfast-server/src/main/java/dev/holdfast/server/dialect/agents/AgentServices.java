package dev.holdfast.server.dialect.agents;

import dev.holdfast.Holdfast;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.files.SharedDirectory;
import dev.holdfast.fleet.FencelessAgents;
import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.lease.FencelessReports;
import dev.holdfast.tenant.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What one tenant's agents need, ready to hand. */
record AgentServices(
    Tenant tenant,
    FencelessAgents agents,
    AgentJobs jobs,
    Catalogue catalogue,
    SharedDirectory shared,
    JobFiles files,
    Configs configs,
    Dispatch dispatch,
    StatusReports reports) {

  private static final Logger log = LoggerFactory.getLogger(AgentServices.class);

  private static final Duration REMEMBERED = Duration.ofDays(30);
  private static final int MOST_FAILURES = 10;

  static AgentServices open(
      Holdfast holdfast, RemoteWorkers workers, Tenant tenant, SharedDirectory shared) {
    AgentJobs jobs = new AgentJobs(tenant.db());
    Catalogue catalogue = new Catalogue(tenant.db());
    FencelessReports reports = new FencelessReports(tenant);
    FencelessAgents agents = new FencelessAgents(tenant);
    JobFiles files = new JobFiles(jobs, catalogue, shared);
    files.prepare();
    // What says that somebody is there, and so renews a lease, must not wait behind everything
    // else.
    Tenant pulse = holdfast.reserved().tenant(tenant.name());
    Dispatch dispatch =
        new Dispatch(
            new FencelessAgents(pulse),
            jobs,
            reports,
            files,
            agent -> workers.isDraining(tenant.name(), agent),
            hosts -> holdfast.remoteLeases(tenant.name(), hosts));
    return new AgentServices(
        tenant,
        agents,
        jobs,
        catalogue,
        shared,
        files,
        new Configs(shared),
        dispatch,
        new StatusReports(
            new AgentJobs(pulse.db()),
            new FencelessReports(pulse),
            new StatusReports.Leases(
                holdfast.remotePulse(tenant.name(), dispatch), dispatch.leases()),
            files));
  }

  /** Shows what others did to its jobs; answers how many that were. */
  int follow() {
    List<UUID> unshown = catalogue.unshown();
    each(unshown, files::showAlone);
    files.registry().follow();
    return unshown.size();
  }

  // What is wrong with one job's files is no reason not to write others'; what is wrong with all
  // is.
  private void each(List<UUID> ids, Consumer<UUID> work) {
    int failures = 0;
    for (UUID id : ids) {
      try {
        work.accept(id);
      } catch (HoldfastException e) {
        if (++failures == 1) {
          log.warn("The files of job {} cannot be written; trying again later", id, e);
        }
        if (failures == MOST_FAILURES) {
          return;
        }
      }
    }
  }

  /** Lets go of what is no longer remembered. */
  void tidy() {
    each(catalogue.forgotten(), files::showAlone);
    files.registry().follow();
    agents.forget(REMEMBERED);
  }

  /** Puts all files right, whatever became of them. */
  void repair() {
    List<UUID> known = catalogue.known();
    each(known, files::repair);
    each(catalogue.unshown(), files::showAlone);
    List<String> orphans = files.sweepQueue();
    files.registry().write();
    log.info(
        "Agents' files of tenant {}: {} jobs looked at, {} entries of the queue removed",
        tenant.name(),
        known.size(),
        orphans.size());
  }
}
