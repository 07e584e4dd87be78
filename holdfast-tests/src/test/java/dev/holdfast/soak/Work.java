package dev.holdfast.soak;

import dev.holdfast.job.Item;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Progress;
import dev.holdfast.testkit.TestPodman;
import dev.holdfast.worker.JobContext;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * What is to be done, and who does it.
 *
 * @param outOfTen so many of its attempts fail
 */
record Work(int outOfTen) {

  static final Kind<Work> KIND = Kind.of("work", Work.class);

  /** Of a schedule. */
  static final Kind<Work> TICK = Kind.of("tick", Work.class);

  /** Of the dialect of targets. */
  static final Kind<Object> BOOK = Kind.of("book", Object.class);

  static final String TARGETS = "on-targets";
  static final String DIALECT_TARGETS = "targets";
  static final String ON_AGENT = "on-agent";
  static final String SELDOM = "seldom";

  /** A kind whose jobs are played by a playbook, on one node. */
  static final String PLAYBOOK = "tidy";

  static final int NODE = 7;
  private static final int UNIQUE_KEYS = 50;

  static Outcome run(Work work, JobContext job) throws Exception {
    if (work.outOfTen > 0) {
      job.log("attempt " + job.attempt());
      job.checkpoint("attempt-" + job.attempt());
      job.progress(Progress.NONE.withPercent(50));
      job.usage(1, 1);
      job.items(List.of(new Item("found", new Payload("{}"))));
    }
    int thrown = dice().nextInt(10);
    if (thrown < work.outOfTen) {
      throw new IllegalStateException("as its author wished");
    }
    return thrown == 9 && work.outOfTen > 0 && job.attempt() == 1
        ? Outcome.snoozed(Duration.ofSeconds(1))
        : Outcome.succeeded();
  }

  static List<NewJob> plain(int jobs) {
    return IntStream.range(0, jobs).<NewJob>mapToObj(i -> KIND.job(new Work(0))).toList();
  }

  static NewJob seldom() {
    return KIND.job(new Work(0)).withQueue(SELDOM);
  }

  static NewJob keyed() {
    return KIND.job(new Work(1))
        .withResources("site:" + dice().nextInt(20), "node:" + dice().nextInt(10))
        .withPolicy(PolicyOverrides.NONE.withLeaseLength(Duration.ofSeconds(15)));
  }

  static NewJob onTarget() {
    return KIND.job(new Work(2))
        .withQueue(TARGETS)
        .withTarget("target-" + dice().nextInt(5))
        .withPolicy(PolicyOverrides.NONE.withMaxAttempts(1).withOnFailure(OnFailure.HOLD));
  }

  /** Waits a moment, so that it can be enqueued again meanwhile. */
  static NewJob unique() {
    return KIND.job(new Work(0))
        .withUniqueKey("once-" + dice().nextInt(UNIQUE_KEYS))
        .withDelay(Duration.ofSeconds(2));
  }

  static NewJob command(String queue) {
    return NewJob.of("process", Map.of("argv", List.of("true"))).withQueue(queue);
  }

  static NewJob container() {
    return NewJob.of(
            "container",
            Map.of("image", TestPodman.IMAGE, "command", List.of("echo", "soak"), "pull", "never"))
        .withQueue(ON_AGENT);
  }

  static NewJob playbook() {
    return NewJob.of(PLAYBOOK, Map.of()).withQueue(ON_AGENT).withResources("node:" + NODE);
  }

  static NewJob call(String url) {
    return NewJob.of("http", Map.of("url", url)).withQueue(ON_AGENT);
  }

  static RandomGenerator dice() {
    return ThreadLocalRandom.current();
  }
}
