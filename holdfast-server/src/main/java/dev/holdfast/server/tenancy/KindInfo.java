package dev.holdfast.server.tenancy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Policy;
import dev.holdfast.job.PolicyOverrides;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;

/**
 * A kind that is more than a name.
 *
 * @param executor what runs its jobs; empty when a worker of somebody's does
 * @param playbook inside the one directory of playbooks, of kinds that Ansible runs
 * @param nodeTargeted its jobs say which node they are for
 * @param subjectDuring the state that its jobs put their site or environment in
 * @param defaults for jobs that do not say otherwise, before those of their queue
 * @param settings what it fixes about its jobs, where it does
 */
public record KindInfo(
    String name,
    Optional<String> executor,
    Optional<String> playbook,
    boolean nodeTargeted,
    Optional<String> subjectDuring,
    PolicyOverrides defaults,
    Optional<KindSettings> settings) {

  private static final Set<String> UNSAFE = Set.of("", ".", "..");
  private static final Set<String> EXECUTORS = Set.of("process", "container", "ansible", "http");

  public KindInfo {
    Limits.name("name", name);
    executor.ifPresent(given -> {
      if (!EXECUTORS.contains(given)) {
        throw HoldfastException.invalid("executor", given, "process, container, ansible, http");
      }
    });
    playbook.ifPresent(KindInfo::checkPlaybook);
    subjectDuring.ifPresent(state -> Limits.name("subject_during", state));
  }

  /** What runs its jobs, as their policy remembers it. */
  public String runBy() {
    return executor.orElse(Policy.BY_WORKERS);
  }

  /** One that nobody has registered. */
  static KindInfo unregistered(String name) {
    return new KindInfo(
        name,
        Optional.empty(),
        Optional.empty(),
        false,
        Optional.empty(),
        PolicyOverrides.NONE,
        Optional.empty());
  }

  // Whether it exists is for the run to say; that it stays inside, for whoever registers it.
  private static void checkPlaybook(String path) {
    Limits.name("playbook", path);
    boolean leaves =
        path.startsWith("/")
            || path.contains("\\")
            || Arrays.stream(path.split("/", -1)).anyMatch(UNSAFE::contains);
    if (leaves) {
      throw HoldfastException.invalid("playbook", path, "a path inside the playbooks' directory");
    }
  }
}
