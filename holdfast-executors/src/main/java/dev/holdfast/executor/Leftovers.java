package dev.holdfast.executor;

import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.model.Container;
import dev.holdfast.fleet.ProcessId;
import dev.holdfast.worker.JobContext;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Containers that nobody looks after any more. Their labels say for which lease they run and which
 * process made them; only those are ever touched.
 */
final class Leftovers {

  private static final Logger log = LoggerFactory.getLogger(Leftovers.class);

  private static final String JOB = ContainerArgs.OURS + "job";
  private static final String FENCE = ContainerArgs.OURS + "fence";
  private static final String PROCESS = ContainerArgs.OURS + "process";

  private final Optional<ProcessId> here = ProcessId.current();

  /** What a container of ours is known by. */
  Map<String, String> labels(JobContext job) {
    Map<String, String> labels = new HashMap<>();
    labels.put(JOB, job.jobId().toString());
    labels.put(FENCE, String.valueOf(job.fence()));
    here.ifPresent(process -> labels.put(PROCESS, process.stored()));
    return labels;
  }

  /** Removes what processes on this machine left that are no more. */
  void remove(ContainerEngine engine) {
    for (Container container : engine.labelled(JOB)) {
      boolean isRunning = "running".equals(container.getState());
      if (isAbandoned(container.getLabels(), isRunning)) {
        log.info("Removing container {}, which its worker left behind", container.getId());
        engine.remove(container.getId());
      }
    }
  }

  /**
   * Whether a container that has a name which a job needs may be removed: its maker is dead, or it
   * is of an earlier lease of the same job, which is no longer in force.
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
      return false; // it says nothing that we understand
    }
  }
}
