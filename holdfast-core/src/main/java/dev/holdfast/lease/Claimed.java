package dev.holdfast.lease;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The answer to a claim.
 *
 * @param nextDueIn known when nothing was due and a job is scheduled for later; zero when there was
 *     more to look at than one claim does
 */
public record Claimed(List<Lease> leases, Optional<Duration> nextDueIn) {

  public static final Claimed NOTHING = new Claimed(List.of(), Optional.empty());
}
