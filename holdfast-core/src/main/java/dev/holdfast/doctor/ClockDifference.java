package dev.holdfast.doctor;

import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * Compares this machine's clock with the database's. The database's decides, so a difference breaks
 * nothing; but it misleads people who compare logs or compute delays.
 */
final class ClockDifference implements Check {

  private static final Duration NOTICEABLE = Duration.ofSeconds(2);

  private static final String NOW =
      """
      SELECT clock_timestamp() AS at
      """;

  private final Db db;
  private final InstantSource clock;

  ClockDifference(Db db, InstantSource clock) {
    this.db = db;
    this.clock = clock;
  }

  @Override
  public String name() {
    return "clocks";
  }

  @Override
  public Finding look() {
    return db.withHandle(handle -> {
      Instant before = clock.instant();
      Instant theirs =
          handle.createQuery(NOW).map((row, context) -> Columns.instant(row, "at")).one();
      Duration roundTrip = Duration.between(before, clock.instant());
      return judged(Duration.between(before.plus(roundTrip.dividedBy(2)), theirs));
    });
  }

  private Finding judged(Duration ahead) {
    String difference = "the database's differs by %+.3f s".formatted(ahead.toMillis() / 1000.0);
    return ahead.abs().compareTo(NOTICEABLE) > 0
        ? Finding.warn(this, difference, "let both machines follow a time server")
        : Finding.ok(this, difference);
  }
}
