package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What commands, playbooks, containers and HTTP calls may do here.
 *
 * @param termGrace how long a command has between TERM and KILL. A fifth of a job's lease must be
 *     two seconds longer, or the job is refused. Defaults to 3 s, for leases of 25 s and more.
 * @param secrets values by name, for jobs that name them: a command finds them in its environment,
 *     a playbook among its variables, an HTTP call in place of <code>${NAME}</code>. Their values
 *     are never logged. Defaults to none.
 * @param allowedHosts hosts that HTTP calls may reach: {@code api.example.org}, or {@code
 *     *.example.org} for all below it. Defaults to none.
 * @param maxOutputChars how much of a command's output the log keeps, per attempt. Defaults to ten
 *     million.
 * @param users users that commands may run as, if the worker runs as root. Defaults to none.
 * @param playbooks the only directory with playbooks. Defaults to none.
 * @param scratch the directory for files that exist as long as an attempt. Defaults to the system's
 *     own.
 * @param containers the container engine, and what it may run. Defaults to no images.
 */
public record ExecutorConfig(
    Duration termGrace,
    Map<String, String> secrets,
    Set<String> allowedHosts,
    int maxOutputChars,
    Set<String> users,
    Optional<Path> playbooks,
    Path scratch,
    ContainerConfig containers) {

  /** The prefix of environment variables that are secrets for jobs. */
  public static final String SECRET_PREFIX = "HOLDFAST_SECRET_";

  private static final Duration SHORTEST_GRACE = Duration.ofMillis(50);
  private static final Duration LONGEST_GRACE = Duration.ofMinutes(10);

  // Stands after the constants that the constructor reads.
  public static final ExecutorConfig DEFAULTS =
      new ExecutorConfig(
          Duration.ofSeconds(3),
          Map.of(),
          Set.of(),
          10_000_000,
          Set.of(),
          Optional.empty(),
          Path.of(System.getProperty("java.io.tmpdir")),
          ContainerConfig.DEFAULTS);

  public ExecutorConfig {
    if (termGrace.compareTo(SHORTEST_GRACE) < 0 || termGrace.compareTo(LONGEST_GRACE) > 0) {
      throw HoldfastException.badConfig(
          "executors.term-grace", termGrace, SHORTEST_GRACE + " to " + LONGEST_GRACE);
    }
    if (maxOutputChars < Limits.LOG_LINE_CHARS) {
      throw HoldfastException.badConfig(
          "executors.max-output-chars", maxOutputChars, Limits.LOG_LINE_CHARS + " or more");
    }
    secrets.keySet().forEach(name -> Limits.name("executors.secrets", name));
    users.forEach(name -> Limits.name("executors.users", name));
    secrets = Map.copyOf(secrets);
    allowedHosts = Set.copyOf(allowedHosts);
    users = Set.copyOf(users);
  }

  /** The shortest lease under which commands are run. */
  public Duration shortestLease() {
    return LeaseWatch.shortestLease(termGrace, LeaseWatch.Ending.PROCESS);
  }

  public ExecutorConfig withTermGrace(Duration termGrace) {
    return new ExecutorConfig(
        termGrace, secrets, allowedHosts, maxOutputChars, users, playbooks, scratch, containers);
  }

  public ExecutorConfig withSecrets(Map<String, String> secrets) {
    return new ExecutorConfig(
        termGrace, secrets, allowedHosts, maxOutputChars, users, playbooks, scratch, containers);
  }

  /**
   * Takes the secrets from an environment: {@code HOLDFAST_SECRET_API_KEY} is the secret {@code
   * API_KEY}.
   */
  public ExecutorConfig withSecretsOf(Map<String, String> environment) {
    Map<String, String> found = new HashMap<>();
    environment.forEach((name, value) -> {
      if (name.startsWith(SECRET_PREFIX)) {
        found.put(name.substring(SECRET_PREFIX.length()), value);
      }
    });
    return withSecrets(found);
  }

  public ExecutorConfig withAllowedHosts(Set<String> allowedHosts) {
    return new ExecutorConfig(
        termGrace, secrets, allowedHosts, maxOutputChars, users, playbooks, scratch, containers);
  }

  public ExecutorConfig withMaxOutputChars(int maxOutputChars) {
    return new ExecutorConfig(
        termGrace, secrets, allowedHosts, maxOutputChars, users, playbooks, scratch, containers);
  }

  public ExecutorConfig withUsers(Set<String> users) {
    return new ExecutorConfig(
        termGrace, secrets, allowedHosts, maxOutputChars, users, playbooks, scratch, containers);
  }

  public ExecutorConfig withPlaybooks(Path directory) {
    return new ExecutorConfig(
        termGrace,
        secrets,
        allowedHosts,
        maxOutputChars,
        users,
        Optional.of(directory),
        scratch,
        containers);
  }

  public ExecutorConfig withScratch(Path scratch) {
    return new ExecutorConfig(
        termGrace, secrets, allowedHosts, maxOutputChars, users, playbooks, scratch, containers);
  }

  public ExecutorConfig withContainers(ContainerConfig containers) {
    return new ExecutorConfig(
        termGrace, secrets, allowedHosts, maxOutputChars, users, playbooks, scratch, containers);
  }

  /** Shows the names of secrets but not their values, because settings end up in logs. */
  @Override
  public String toString() {
    return "ExecutorConfig[termGrace="
        + termGrace
        + ", secrets="
        + secrets.keySet()
        + ", allowedHosts="
        + allowedHosts
        + ", maxOutputChars="
        + maxOutputChars
        + ", users="
        + users
        + ", playbooks="
        + playbooks
        + ", scratch="
        + scratch
        + ", containers="
        + containers
        + "]";
  }
}
