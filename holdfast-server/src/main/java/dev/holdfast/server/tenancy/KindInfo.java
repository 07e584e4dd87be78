package dev.holdfast.server.tenancy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Policy;
import dev.holdfast.job.PolicyOverrides;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A registered kind.
 *
 * @param executor the executor that runs its jobs; empty when workers of the application do
 * @param playbook the playbook of kinds that Ansible runs, inside the directory of playbooks
 * @param nodeTargeted whether its jobs must name a node
 * @param subjectDuring the state in which its jobs put their site or environment, if it says one
 * @param defaults policy for jobs that set nothing else; takes precedence over the queue's defaults
 * @param settings arguments that it fixes for its jobs
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

  // The contract of the control plane's kinds, so that its clients need not register them.
  private static final Map<String, String> OF_THE_CONTROL_PLANE =
      Map.of(
          "env_create", "cloning",
          "site_create", "cloning",
          "site_import", "cloning",
          "env_deploy", "deploying",
          "env_update", "deploying",
          "env_promote", "deploying",
          "release_rollback", "deploying",
          "env_restore", "restoring");

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

  /** What runs its jobs, in the form that is stored in their policy. */
  public String runBy() {
    return executor.orElse(Policy.BY_WORKERS);
  }

  /** The state in which its jobs put their site or environment, also if it does not say one. */
  public Optional<String> stateOfSubject() {
    return subjectDuring.or(() -> Optional.ofNullable(OF_THE_CONTROL_PLANE.get(name)));
  }

  /** A kind that is not registered. */
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

  // Only checks that the path stays inside; whether the playbook exists is known when it runs.
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
