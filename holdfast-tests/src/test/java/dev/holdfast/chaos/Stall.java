package dev.holdfast.chaos;

import dev.holdfast.Holdfast;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.TenantName;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Notices when nothing gets done any more, and tells who waits for what while that can still be
 * seen. Reads the ledger as it grows. For one thread.
 */
final class Stall implements AutoCloseable {

  private static final Duration MOST = Duration.ofSeconds(90);
  private static final Duration OFTEN = Duration.ofSeconds(1);

  private static final String DUE =
      """
      SELECT count(*) FROM {schema}.job WHERE state = 'queued' AND run_at <= {schema}.clock()
      """;

  private static final String WHO_WAITS =
      """
      SELECT format('%s jobs are %s, wait for %s, the first since %s; that is held by %s',
                    count(*), job.state, coalesce(job.waiting_on, 'nobody'), min(job.run_at),
                    coalesce((SELECT string_agg(
                                format('%s@%s since %s, passes on at %s', hold.job_id, hold.fence,
                                       hold.since, coalesce(hold.passes_at::text, 'its end')),
                                ', ')
                                FROM {schema}.hold
                               WHERE hold.resource = job.waiting_on), 'nobody'))
        FROM {schema}.job
       GROUP BY job.state, job.waiting_on
       ORDER BY count(*) DESC
       LIMIT 40
      """;

  private final RandomAccessFile ledger;
  private final Db db;
  private final byte[] bytes = new byte[1 << 16];
  private String rest = "";
  private long lastStartNanos = System.nanoTime();

  Stall(Path ledger, Holdfast holdfast) throws IOException {
    this.ledger = new RandomAccessFile(ledger.toFile(), "r");
    this.db = holdfast.tenants().open(TenantName.DEFAULT).db();
  }

  Duration look() throws IOException {
    for (int read = ledger.read(bytes); read > 0; read = ledger.read(bytes)) {
      hear(rest + new String(bytes, 0, read, StandardCharsets.UTF_8));
    }
    Duration still = Duration.ofNanos(System.nanoTime() - lastStartNanos);
    if (still.compareTo(MOST) > 0) {
      complain(still);
    }
    return OFTEN;
  }

  private void hear(String text) {
    int whole = text.lastIndexOf('\n') + 1;
    rest = text.substring(whole);
    if (text.substring(0, whole).lines().anyMatch(Stall::isStart)) {
      lastStartNanos = System.nanoTime();
    }
  }

  // Jobs of schedules are started before all others, and go on while nothing else does.
  private static boolean isStart(String line) {
    return line.contains(" start ") && line.endsWith(" ok") && !line.contains(" schedule:");
  }

  private void complain(Duration still) {
    try {
      long due = db.withHandle(handle -> handle.createQuery(db.sql(DUE)).mapTo(Long.class).one());
      if (due > 0) {
        throw new AssertionError(
            "no job was started for %d s, and %d are due:%n%s"
                .formatted(still.toSeconds(), due, whoWaits()));
      }
    } catch (HoldfastException e) {
      // The database is away, and will be asked again.
    }
  }

  String whoWaits() {
    List<String> lines =
        db.withHandle(handle -> handle.createQuery(db.sql(WHO_WAITS)).mapTo(String.class).list());
    return String.join(System.lineSeparator(), lines);
  }

  @Override
  public void close() throws IOException {
    ledger.close();
  }
}
