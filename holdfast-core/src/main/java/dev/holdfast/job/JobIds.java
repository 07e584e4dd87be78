package dev.holdfast.job;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.Comparator;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Makes UUIDv7 ids. The process that enqueues makes them, not the database, so that an enqueue
 * whose outcome is unknown can be repeated under the same id. The leading milliseconds keep the
 * primary key's inserts on one page; they give no order, {@code job.seq} does.
 */
public final class JobIds {

  // Drawn from the system, so that two processes started in the same millisecond make different
  // ids.
  private static final long PROCESS_SALT = new SecureRandom().nextLong();

  /** The order of ids in PostgreSQL, which is not that of {@link UUID#compareTo}. */
  public static final Comparator<UUID> ORDER =
      (one, other) -> {
        int high =
            Long.compareUnsigned(one.getMostSignificantBits(), other.getMostSignificantBits());
        return high != 0
            ? high
            : Long.compareUnsigned(one.getLeastSignificantBits(), other.getLeastSignificantBits());
      };

  private static final Duration CLOCKS_DIFFER = Duration.ofDays(1);

  private JobIds() {}

  /**
   * Ids as large as this do not begin with the time when they were made, or with that of a clock
   * that is more than a day ahead.
   */
  public static UUID firstOfTheFuture() {
    return new UUID((System.currentTimeMillis() + CLOCKS_DIFFER.toMillis()) << 16, 0);
  }

  public static UUID next() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    long high = (System.currentTimeMillis() << 16) | 0x7000L | (random.nextLong() & 0x0FFFL);
    long low =
        ((random.nextLong() ^ PROCESS_SALT) & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
    return new UUID(high, low);
  }
}
