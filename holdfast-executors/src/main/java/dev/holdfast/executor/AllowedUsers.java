package dev.holdfast.executor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The users that commands may run as, besides the worker's own: none, unless configured. Immutable.
 */
record AllowedUsers(boolean isRoot, Set<String> names) {

  static AllowedUsers of(ExecutorConfig config) {
    return new AllowedUsers(runsAsRoot(), config.users());
  }

  private static boolean runsAsRoot() {
    try {
      return Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  /** Why commands may not run as this user; empty if they may. */
  Optional<String> refusal(String user) {
    if (!isRoot) {
      return Optional.of("user: only a worker that runs as root can run commands as somebody else");
    }
    return names.contains(user)
        ? Optional.empty()
        : Optional.of("user: allowed here: " + new TreeSet<>(names));
  }
}
