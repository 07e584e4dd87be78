package dev.holdfast.fleet;

import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Identifies a process for all time. A pid alone does not: pids are used again, and containers have
 * their own. So it comes with the boot id of the machine, the pid namespace, and the time at which
 * the process began.
 */
public record ProcessId(String boot, String space, long pid, String began) {

  private static final Path PROC = Path.of("/proc");

  // The place of the start time among the fields of /proc/<pid>/stat that follow the name, which is
  // in brackets and may contain spaces.
  private static final int BEGAN = 19;

  /** This process; empty where the system does not tell. */
  public static Optional<ProcessId> current() {
    try {
      long pid = ProcessHandle.current().pid();
      String boot = readBoot();
      String space = readSpace();
      return readBeginning(PROC, pid).map(began -> new ProcessId(boot, space, pid, began));
    } catch (IOException | RuntimeException e) {
      return Optional.empty();
    }
  }

  public static ProcessId of(String stored) {
    String[] parts = stored.split(" ", -1);
    if (parts.length != 4) {
      throw HoldfastException.invalid("process", stored, "boot, space, number, beginning");
    }
    return new ProcessId(parts[0], parts[1], Long.parseLong(parts[2]), parts[3]);
  }

  public String stored() {
    return boot + " " + space + " " + pid + " " + began;
  }

  /** Whether the process certainly no longer runs, seen from {@code here}. */
  public boolean isDead(ProcessId here) {
    return isDead(here, PROC);
  }

  boolean isDead(ProcessId here, Path proc) {
    if (!boot.equals(here.boot) || !space.equals(here.space)) {
      return false; // it may live on another machine, or in a container we cannot see into
    }
    if (!Files.exists(proc.resolve("1/stat"))) {
      return false; // there is always one: processes of other users are hidden from this one
    }
    try {
      return !readBeginning(proc, pid).equals(Optional.of(began));
    } catch (IOException e) {
      return false;
    }
  }

  /** Whether the process began in another boot. On the same machine this proves that it ended. */
  public boolean isOfAnotherBoot(ProcessId here) {
    return !boot.equals(here.boot);
  }

  private static String readBoot() throws IOException {
    return Files.readString(PROC.resolve("sys/kernel/random/boot_id")).strip();
  }

  private static String readSpace() throws IOException {
    return Files.readSymbolicLink(PROC.resolve("self/ns/pid")).toString();
  }

  /** Empty when there is no such process, or only its zombie. */
  private static Optional<String> readBeginning(Path proc, long pid) throws IOException {
    try {
      String stat = Files.readString(proc.resolve(Long.toString(pid)).resolve("stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      return "Z".equals(fields[0]) ? Optional.empty() : Optional.of(fields[BEGAN]);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }
}
