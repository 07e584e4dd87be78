package dev.holdfast.soak;

import dev.holdfast.Holdfast;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.job.Outcome;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * Two workers over HTTP, one on the database that serves all tenants there ever are, and one there
 * that has little to do: only who is idle can be seen to overlook a job.
 */
final class SoakWorkers {

  private static final int CONNECTIONS = 6;
  private static final int CONCURRENCY = 16;

  private SoakWorkers() {}

  public static void main(String[] args) throws IOException {
    HoldfastClient server = HoldfastClient.at(args[1]).withTimeout(Duration.ofSeconds(5));
    Holdfast database = Holdfast.on(Standing.pool(args[0], CONNECTIONS));
    List<Worker> workers =
        List.of(
            start("worker-1", server.worker(), "default"),
            start("worker-2", server.worker(), "default", Work.TARGETS),
            start(
                "worker-3",
                database.workerForAllTenants(),
                "default",
                Work.TARGETS,
                Work.DIALECT_TARGETS),
            start("worker-4", database.worker(), Work.SELDOM));
    Standing.goOn(0, () -> workers.forEach(Worker::close));
  }

  private static Worker start(String name, WorkerBuilder builder, String... queues) {
    return builder
        .configure(config -> config.withName(name).withQueues(queues).withConcurrency(CONCURRENCY))
        .handleWithOutcome(Work.KIND, Work::run)
        .handleWithOutcome(Work.TICK, (work, job) -> Outcome.succeeded())
        .handleWithOutcome(Work.BOOK, (work, job) -> Outcome.succeeded())
        .start();
  }
}
