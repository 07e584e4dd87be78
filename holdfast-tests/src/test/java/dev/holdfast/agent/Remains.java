package dev.holdfast.agent;

import dev.holdfast.executor.Processes;
import dev.holdfast.testkit.TestPodman;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * What there is of jobs on this machine, seen from outside: processes that have a job in their
 * environment, wherever they are in the tree, and containers that are labelled with it.
 *
 * @param jobs their ids
 * @param podman where containers would be, if any can be
 */
record Remains(Set<String> jobs, Optional<TestPodman> podman) {

  private static final String MARK = "HOLDFAST_JOB_ID=";
  private static final String LABEL = "dev.holdfast.job:";
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(50);

  /** What is still there after a while: who ends things may just be at it. */
  List<String> last() throws IOException {
    long began = System.nanoTime();
    List<String> there = now();
    while (!there.isEmpty() && System.nanoTime() - began < PATIENCE.toNanos()) {
      LockSupport.parkNanos(LOOK_AGAIN.toNanos());
      there = now();
    }
    return there;
  }

  List<String> now() throws IOException {
    List<String> found = new ArrayList<>();
    if (jobs.isEmpty()) {
      return found;
    }
    List<Path> processes;
    try (Stream<Path> all = Files.list(Path.of("/proc"))) {
      processes = all.filter(path -> path.getFileName().toString().matches("[0-9]+")).toList();
    }
    for (Path process : processes) {
      if (isOfOurs(process)) {
        found.add("process " + process.getFileName() + ": " + command(process));
      }
    }
    podman.ifPresent(engine ->
        engine
            .output("ps", "--all", "--format", "container {{.Names}} {{.State}} {{.Labels}}")
            .lines()
            .filter(line -> jobs.stream().anyMatch(id -> line.contains(LABEL + id)))
            .forEach(found::add));
    return found;
  }

  // One that has ended and that nobody has asked about yet has no environment any more.
  private boolean isOfOurs(Path process) throws IOException {
    return Arrays.stream(read(process.resolve("environ")).split("\0", -1))
            .filter(variable -> variable.startsWith(MARK))
            .anyMatch(variable -> jobs.contains(variable.substring(MARK.length())))
        && Processes.isRunning(Long.parseLong(process.getFileName().toString()));
  }

  private static String command(Path process) {
    return read(process.resolve("cmdline")).replace('\0', ' ');
  }

  private static String read(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    } catch (IOException e) {
      return ""; // it is gone, or not ours to look at, and so not of our jobs
    }
  }
}
