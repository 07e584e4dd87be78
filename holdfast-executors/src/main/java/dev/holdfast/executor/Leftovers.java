package dev.holdfast.executor;

import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.model.Container;
import dev.holdfast.fleet.ProcessId;
import dev.holdfast.worker.JobContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds containers that no process looks after any more. Labels record the lease that a container
 * runs for and the process that created it; containers without these labels are never touched.
 */
final class Leftovers {

  private static final Logger log = LoggerFactory.getLogger(Leftovers.class);

  private static final String JOB = ContainerArgs.OURS + "job";
  private static final String FENCE = ContainerArgs.OURS + "fence";
  private static final String PROCESS = ContainerArgs.OURS + "process";

  private final Optional<ProcessId> here = ProcessId.current();

  /** The labels of a container for this job. */
  Map<String, String> labels(JobContext job) {
    Map<String, String> labels = new HashMap<>();
    labels.put(JOB, job.jobId().toString());
    labels.put(FENCE, String.valueOf(job.fence()));
    here.ifPresent(process -> labels.put(PROCESS, process.stored()));
    return labels;
  }

  /**
   * Removes containers that dead processes of this machine left behind. One that cannot be removed
   * is no reason not to start: a watchdog may be removing it at this moment.
   */
  void remove(ContainerEngine engine) {
    for (Container container : engine.labelled(JOB)) {
      boolean isRunning = "running".equals(container.getState());
      if (isAbandoned(container.getLabels(), isRunning)) {
        log.info("Removing container {}, which its worker left behind", container.getId());
        try {
          engine.remove(container.getId());
        } catch (RuntimeException e) {
          log.warn("Could not remove container {}", container.getId(), e);
        }
      }
    }
  }

  /**
   * Removes containers of one lease, whose process is dead. One that has ended may stay until it
   * can be removed.
   *
   * @throws IllegalStateException while one may still run
   */
  void remove(ContainerEngine engine, UUID jobId, long fence) {
    IllegalStateException left =
        new IllegalStateException("containers of job " + jobId + " cannot be removed");
    for (Container container : ofLease(engine, jobId, fence)) {
      log.info("Removing container {}, which an earlier life left", container.getId());
      try {
        engine.remove(container.getId());
      } catch (RuntimeException e) {
        left.addSuppressed(e);
      }
    }
    // Also after a removal that succeeded: the engine may have been about to create one.
    if (ofLease(engine, jobId, fence).stream().anyMatch(Leftovers::mayRun)) {
      throw left;
    }
  }

  private static List<Container> ofLease(ContainerEngine engine, UUID jobId, long fence) {
    return engine.labelled(JOB + "=" + jobId).stream()
        .filter(container -> {
          Map<String, String> labels = container.getLabels();
          return labels != null
              && jobId.toString().equals(labels.get(JOB))
              && fence(labels) == fence;
        })
        .toList();
  }

  // One that was created may be starting.
  private static boolean mayRun(Container container) {
    return !Set.of("exited", "dead").contains(String.valueOf(container.getState()));
  }

  /**
   * Whether a container whose name a job needs may be removed: the process that created it is dead,
   * or it belongs to an earlier lease of the same job, which no longer holds.
   */
  boolean isLeftover(InspectContainerResponse container, JobContext job) {
    Map<String, String> labels = container.getConfig().getLabels();
    if (labels == null || !labels.containsKey(JOB)) {
      return false;
    }
    boolean isEarlier =
        job.jobId().toString().equals(labels.get(JOB)) && fence(labels) < job.fence();
    boolean isRunning = Boolean.TRUE.equals(container.getState().getRunning());
    return isEarlier || isAbandoned(labels, isRunning);
  }

  private static long fence(Map<String, String> labels) {
    try {
      return Long.parseLong(labels.getOrDefault(FENCE, ""));
    } catch (NumberFormatException e) {
      return Long.MAX_VALUE;
    }
  }

  private boolean isAbandoned(Map<String, String> labels, boolean isRunning) {
    try {
      ProcessId maker = ProcessId.of(labels.getOrDefault(PROCESS, ""));
      return here.isPresent()
          && (maker.isDead(here.get()) || (!isRunning && maker.isOfAnotherBoot(here.get())));
    } catch (RuntimeException e) {
      return false; // not a label that we understand
    }
  }
}
