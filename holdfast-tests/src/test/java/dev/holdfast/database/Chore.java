package dev.holdfast.database;

import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/**
 * How long a chore takes, and the site that it needs, if any.
 *
 * @param brief its lease is shorter than an outage can be, and than the chore itself
 */
record Chore(int millis, List<String> sites, boolean brief) {

  static final Kind<Chore> KIND = Kind.of("chore", Chore.class);

  /** Of brief ones. So much of it, less a fifth, after the last beat a handler is stopped. */
  static final Duration BRIEF_LEASE = Duration.ofSeconds(2);

  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final int SITES = 5;
  private static final int FAR_SITES = 10;
  private static final int MOST_ATTEMPTS = 1_000;

  static Chore number(int n) {
    return switch (n % 20) {
      case 0, 10 -> new Chore(2_000, List.of(), false); // runs while the database is away
      // Half of them have what nobody else may have before they are known to be over.
      case 5 ->
          new Chore(3_000, n % 40 == 5 ? List.of("far:" + n / 40 % FAR_SITES) : List.of(), true);
      case 1, 2, 11, 12 -> new Chore(20, List.of("site:" + n % SITES), false);
      default -> new Chore(0, List.of(), false);
    };
  }

  NewJob job(UUID id) {
    return NewJob.of(KIND.name(), this)
        .withId(id)
        .withResources(sites.toArray(String[]::new))
        .withPolicy(
            PolicyOverrides.NONE
                .withLeaseLength(brief ? BRIEF_LEASE : LEASE)
                .withMaxAttempts(MOST_ATTEMPTS));
  }
}
