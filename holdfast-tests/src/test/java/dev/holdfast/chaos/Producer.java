package dev.holdfast.chaos;

import dev.holdfast.Holdfast;
import dev.holdfast.chaos.load.EnqueueWay;
import dev.holdfast.chaos.load.Workload;
import dev.holdfast.chaos.load.Workload.Made;
import dev.holdfast.chaos.verdict.Acknowledged;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.TenantName;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * Enqueues as fast as jobs are done, by several ways in turn, and keeps the list of those that
 * Holdfast said it has. Before a batch is answered no other is begun, so that the list has the
 * order in which they were stored. One thread produces; others may ask for the counts.
 */
final class Producer {

  private static final int BATCH = 200;
  // So that there is work beside what waits for a frozen worker.
  private static final int MOST_READY = 1_000;
  // A resource of the dead is free after lease and kill grace: with all that is killed, those who
  // wait for one would soon be all there are.
  private static final int MOST_PARKED = 1_000;
  private static final Duration SOON = Duration.ofMillis(100);

  private static final String BACKLOG =
      """
      SELECT count(*) - count(waiting_on) AS ready, count(waiting_on) AS parked
        FROM {schema}.job
      """;

  /** Jobs that are not over: those that wait for a resource, and all others. */
  private record Backlog(long ready, long parked) {}

  /** Jobs, and how they are to get to Holdfast. */
  private record Batch(List<Made> made, EnqueueWay way) {}

  private final Db db;
  private final List<EnqueueWay> ways;
  private final Workload workload;
  private final Writer log;
  private final List<Acknowledged> acknowledged = new ArrayList<>();
  private Optional<Batch> unanswered = Optional.empty();
  private int batches;
  private volatile int count;
  private final AtomicInteger repeated = new AtomicInteger();
  private volatile boolean stopped;
  private volatile boolean done;

  /**
   * Produces by these ways.
   *
   * @param holdfast tells how much there is to do, on a way that nothing happens to
   */
  Producer(Holdfast holdfast, List<EnqueueWay> ways, Workload workload, Path file)
      throws IOException {
    this.db = holdfast.tenants().open(TenantName.DEFAULT).db();
    this.ways = ways;
    this.workload = workload;
    this.log = Files.newBufferedWriter(file);
  }

  Duration produce() throws IOException {
    try {
      if (unanswered.isEmpty()) {
        unanswered = next();
      }
      if (unanswered.isPresent()) {
        Batch batch = unanswered.get();
        acknowledge(batch, batch.way.store(batch.made.stream().map(Made::job).toList()));
        unanswered = Optional.empty();
      }
    } catch (SQLException e) {
      unansweredOnceMore();
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.DATABASE && e.code() != ErrorCode.UNAVAILABLE) {
        throw e;
      }
      unansweredOnceMore();
    }
    return SOON;
  }

  private void unansweredOnceMore() {
    if (unanswered.isPresent()) {
      repeated.incrementAndGet();
    }
  }

  private Optional<Batch> next() {
    if (stopped) {
      done = true;
      return Optional.empty();
    }
    Backlog backlog = backlog();
    if (backlog.ready >= MOST_READY) {
      return Optional.empty();
    }
    boolean isCongested = backlog.parked >= MOST_PARKED;
    return Optional.of(
        new Batch(
            IntStream.range(0, BATCH).mapToObj(i -> workload.next(isCongested)).toList(),
            ways.get(batches++ % ways.size())));
  }

  private void acknowledge(Batch batch, List<UUID> ids) throws IOException {
    for (int i = 0; i < batch.made.size(); i++) {
      Acknowledged job = batch.made.get(i).acknowledged(ids.get(i).toString(), acknowledged.size());
      acknowledged.add(job);
      log.write(job.line() + "\n");
    }
    log.flush();
    count = acknowledged.size();
  }

  private Backlog backlog() {
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(BACKLOG))
            .map((row, context) -> new Backlog(row.getLong("ready"), row.getLong("parked")))
            .one());
  }

  /** No more after those that are being enqueued. */
  void stop() {
    stopped = true;
  }

  /** Whether the last ones are answered, too, after {@link #stop}. */
  boolean isDone() {
    return done;
  }

  int count() {
    return count;
  }

  /** How often a batch was not answered, and had to be asked for again. */
  int repeated() {
    return repeated.get();
  }

  /** When nobody produces any more. */
  List<Acknowledged> acknowledged() {
    return acknowledged;
  }
}
