package dev.holdfast.agent;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Processes that run for a lease, wherever they are in the tree: they all were told of it by their
 * environment, and pass that on.
 */
final class JobProcesses {

  private static final Logger log = LoggerFactory.getLogger(JobProcesses.class);

  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(20);

  private JobProcesses() {}

  /** Kills them, and returns when there are none. */
  static void kill(UUID jobId, long fence) {
    Set<String> marks = Set.of("HOLDFAST_JOB_ID=" + jobId, "HOLDFAST_FENCE=" + fence);
    long untilNanos = System.nanoTime() + PATIENCE.toNanos();
    List<ProcessHandle> found = running(marks);
    while (!found.isEmpty()) {
      log.warn("Killing {} processes that an earlier life left of job {}", found.size(), jobId);
      found.forEach(ProcessHandle::destroyForcibly);
      if (System.nanoTime() - untilNanos > 0) {
        throw new IllegalStateException("processes of job " + jobId + " cannot be killed");
      }
      LockSupport.parkNanos(LOOK_AGAIN.toNanos());
      found = running(marks);
    }
  }

  private static List<ProcessHandle> running(Set<String> marks) {
    long own = ProcessHandle.current().pid();
    return ProcessHandle.allProcesses()
        .filter(process -> process.pid() != own && environment(process).containsAll(marks))
        .toList();
  }

  // Empty for those that are not ours to look at: what we started can be seen by us.
  private static Set<String> environment(ProcessHandle process) {
    try {
      byte[] all = Files.readAllBytes(Path.of("/proc", String.valueOf(process.pid()), "environ"));
      return Arrays.stream(new String(all, StandardCharsets.UTF_8).split("\0", -1))
          .collect(Collectors.toSet());
    } catch (IOException e) {
      return Set.of();
    }
  }
}
