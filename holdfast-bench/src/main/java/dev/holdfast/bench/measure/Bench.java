package dev.holdfast.bench.measure;

import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.contender.JobQueue;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Prepares a contender's queue, measures what is done to it, and puts the meters together. */
public record Bench(Server server, Scale scale, Contender contender) {

  private static final Duration LOOK_AGAIN = Duration.ofMillis(5);
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** Something done to a queue. */
  @FunctionalInterface
  public interface Action<T> {
    T apply(JobQueue queue) throws Exception;
  }

  /** What an action answered and what it spent. */
  public record Measured<T>(T result, Reading spent) {}

  /** As many as the scale says, unless the contender would take too long for them. */
  public int jobs(int full, int least) {
    return Math.min(scale.jobs(full, least), contender.mostJobs());
  }

  /** Empties the contender's tables and fills them anew. */
  public void prepare(Action<?> filling) throws Exception {
    String others = sessions();
    contender.reset(server);
    server.execute("CHECKPOINT");
    try (JobQueue queue = contender.open(server)) {
      Object unused = filling.apply(queue);
    }
    // Both the planner and the hint bits are then as they would be on a queue that has lived.
    server.execute("VACUUM ANALYZE");
    awaitEndOfAllBut(others);
  }

  public <T> Measured<T> measure(Action<T> action) throws Exception {
    String others = sessions();
    Reading before;
    Reading after;
    T result;
    try (JobQueue queue = contender.open(server)) {
      before = Reading.take(server);
      result = action.apply(queue);
      after = Reading.take(server);
    }
    awaitEndOfAllBut(others);
    return new Measured<>(result, after.withCountsOf(server).minus(before));
  }

  /** Sessions that ended have told all their counts, and take no CPU from the next. */
  private void awaitEndOfAllBut(String others) {
    String ours =
        " FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> ALL ('%s')"
            .formatted(others);
    long beganNanos = System.nanoTime();
    while (server.askNumber("SELECT count(*)" + ours) > 0) {
      LockSupport.parkNanos(LOOK_AGAIN.toNanos());
      // A pool that is closed while somebody is about to use it may lose a connection.
      if (System.nanoTime() - beganNanos > PATIENCE.toNanos()) {
        server.execute("SELECT pg_terminate_backend(pid)" + ours);
      }
    }
  }

  /** This server's sessions now, our own for questions among them. */
  private String sessions() {
    return server.ask(
        "SELECT array_agg(pid) FROM pg_stat_activity WHERE backend_type = 'client backend'");
  }
}
