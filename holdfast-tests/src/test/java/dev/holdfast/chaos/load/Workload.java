package dev.holdfast.chaos.load;

import dev.holdfast.chaos.fleet.AgentNode;
import dev.holdfast.chaos.verdict.Acknowledged;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * Makes up jobs: on sites and nodes, on targets, and on nothing; for workers, for agents and for
 * those that speak a dialect. For one thread.
 */
public final class Workload {

  public static final Duration LEASE = Duration.ofSeconds(3);

  static final String PAUSABLE = "pausable";

  private static final String PULL = "pull";
  private static final String AGENTS = "agents";
  private static final String SIMULATION = "simulation";
  private static final int SITES = 20;
  private static final int NODES = 10;
  private static final int TARGETS = 16;

  private static final int ENOUGH_ATTEMPTS = 25; // no series of mishaps is that long
  private static final int FEW_ATTEMPTS = 3;
  private static final int EVERY_ATTEMPT = 1_000;
  private static final int DOOMED_LONG_PERCENT = 35;

  /** A job, and what the enqueue log says of it once it is stored. */
  public record Made(NewJob job, int maxAttempts, boolean doomed) {

    public Acknowledged acknowledged(String id, long number) {
      return new Acknowledged(id, number, maxAttempts, doomed, job.needs().target());
    }
  }

  private final RandomGenerator dice;
  private final List<String> command;

  /**
   * Makes them up by the dice.
   *
   * @param command does what a chore does, told its resources, its seconds and its failures
   */
  public Workload(RandomGenerator dice, List<String> command) {
    this.dice = dice;
    this.command = command;
  }

  /** The policy of jobs that come to their end, whatever happens to their workers. */
  static PolicyOverrides persistent() {
    return PolicyOverrides.NONE.withMaxAttempts(ENOUGH_ATTEMPTS).withLeaseLength(LEASE);
  }

  /**
   * One more.
   *
   * @param isCongested enough jobs wait for resources already: it needs none
   */
  public Made next(boolean isCongested) {
    int kind = dice.nextInt(100);
    if (kind < 40 && !isCongested) {
      return kind < 22 ? chore(siteAndNode(), 1) : onTarget("t" + dice.nextInt(TARGETS));
    }
    if (kind < 40 || kind >= 54) {
      return chore(List.of(), 6);
    }
    List<String> resources = isCongested || dice.nextBoolean() ? List.of() : siteAndNode();
    if (kind < 48) {
      Made made = chore(resources, 2);
      return new Made(made.job.withQueue(PULL), made.maxAttempts, made.doomed);
    }
    return kind < 52 ? command(resources) : simulation(resources);
  }

  private List<String> siteAndNode() {
    return List.of("site:" + dice.nextInt(SITES), "node:" + dice.nextInt(NODES));
  }

  private Made chore(List<String> resources, int longPercent) {
    boolean doomed = percent(1);
    int failures = doomed ? EVERY_ATTEMPT : failures();
    int maxAttempts = doomed ? FEW_ATTEMPTS : ENOUGH_ATTEMPTS;
    // Of those that have few attempts some are to be at work when their process is killed.
    int percent = doomed && resources.isEmpty() ? DOOMED_LONG_PERCENT : longPercent;
    Chore chore = new Chore(resources, millis(percent), failures, dice.nextBoolean());
    NewJob job = job(chore, persistent().withMaxAttempts(maxAttempts).withRetry(delays()));
    return new Made(job.withResources(resources), maxAttempts, doomed);
  }

  private static NewJob job(Chore chore, PolicyOverrides policy) {
    return Chore.KIND.job(chore).withPolicy(policy);
  }

  private Made onTarget(String target) {
    List<String> resources = List.of("target:" + target);
    int choice = dice.nextInt(100);
    if (choice < 3) { // fails for good, and stands there until somebody acts
      Chore chore = new Chore(resources, millis(0), 2, false);
      PolicyOverrides policy =
          persistent().withMaxAttempts(2).withRetry(delays()).withOnFailure(OnFailure.HOLD);
      return new Made(job(chore, policy).withTarget(target), 2, false);
    }
    if (choice < 5) { // long enough for somebody to pause it
      Chore chore = new Chore(resources, dice.nextInt(2_000, 4_000), 0, dice.nextInt(4) == 0);
      NewJob job = job(chore, persistent().withRetry(delays())).withTags(PAUSABLE);
      return new Made(job.withTarget(target), ENOUGH_ATTEMPTS, false);
    }
    Made made = chore(resources, 1);
    return new Made(
        made.job.withResources(List.of()).withTarget(target), made.maxAttempts, made.doomed);
  }

  private Made command(List<String> resources) {
    Chore chore = new Chore(resources, millis(15), failures(), false);
    List<String> argv =
        Stream.concat(
                command.stream(),
                Stream.of(
                    chore.listed(),
                    String.valueOf(chore.millis() / 1000.0),
                    String.valueOf(chore.failures())))
            .toList();
    NewJob job =
        NewJob.of("process", Map.of("argv", argv))
            .withPolicy(persistent().withLeaseLength(AgentNode.LEASE).withRetry(delays()));
    return new Made(job.withResources(resources), ENOUGH_ATTEMPTS, false);
  }

  // By the rules of its dialect a failure would be its end, and a lost lease, too.
  private Made simulation(List<String> resources) {
    Chore chore = new Chore(resources, millis(10), 0, dice.nextBoolean());
    Map<String, Object> args =
        Map.of("config_path", "chaos.yaml", "job_name", "chaos", "env", chore.variables());
    NewJob job =
        NewJob.of(SIMULATION, args)
            .withQueue(AGENTS)
            .withPolicy(persistent().withOnLeaseLost(OnLeaseLost.RETRY).withRetry(delays()));
    return new Made(job.withResources(resources), ENOUGH_ATTEMPTS, false);
  }

  private boolean percent(int percent) {
    return dice.nextInt(100) < percent;
  }

  private int failures() {
    return percent(8) ? 1 + dice.nextInt(2) : 0;
  }

  // Long ones outlast their lease, so that they live by heartbeats.
  private int millis(int longPercent) {
    return percent(longPercent) ? dice.nextInt(3_300, 5_000) : dice.nextInt(1, 40);
  }

  private RetryPolicy delays() {
    return new RetryPolicy.Delays(
        List.of(Duration.ofMillis(dice.nextInt(50, 400)), Duration.ofMillis(500)));
  }
}
