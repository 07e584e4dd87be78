package dev.holdfast.doctor;

import dev.holdfast.tenant.Db;
import java.time.Duration;

/**
 * Checks that no transaction is open for long: it keeps dead rows from being vacuumed, and claims
 * have to read past them.
 */
final class OldestTransaction implements Check {

  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Duration TOO_LONG = Duration.ofHours(1);

  private static final String OLDEST =
      """
      SELECT who, extract(epoch FROM clock_timestamp() - began)::bigint AS seconds
        FROM (SELECT 'process ' || pid AS who, xact_start AS began
                FROM pg_stat_activity
               WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
              UNION ALL
              SELECT 'prepared transaction ' || gid, prepared FROM pg_prepared_xacts) AS open
       WHERE began IS NOT NULL
       ORDER BY began
       LIMIT 1
      """;

  private record Oldest(String who, Duration age) {}

  private final Db db;
  private final Duration isLong;
  private final Duration isTooLong;

  OldestTransaction(Db db) {
    this(db, LONG, TOO_LONG);
  }

  OldestTransaction(Db db, Duration isLong, Duration isTooLong) {
    this.db = db;
    this.isLong = isLong;
    this.isTooLong = isTooLong;
  }

  @Override
  public String name() {
    return "transactions";
  }

  @Override
  public Finding look() {
    return db.withHandle(handle ->
            handle
                .createQuery(OLDEST)
                .map((row, context) ->
                    new Oldest(row.getString("who"), Duration.ofSeconds(row.getLong("seconds"))))
                .findOne())
        .filter(oldest -> oldest.age().compareTo(isLong) >= 0)
        .map(this::judged)
        .orElseGet(() -> Finding.ok(this, "none is open for long"));
  }

  private Finding judged(Oldest oldest) {
    String detail = "%s has been open for %d s".formatted(oldest.who(), oldest.age().toSeconds());
    String remedy = "end it: SELECT pg_terminate_backend(…), or ROLLBACK PREPARED '…'";
    return oldest.age().compareTo(isTooLong) >= 0
        ? Finding.fail(this, detail, remedy)
        : Finding.warn(this, detail, remedy);
  }
}
