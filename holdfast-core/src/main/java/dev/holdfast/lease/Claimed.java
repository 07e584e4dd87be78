package dev.holdfast.lease;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The answer to a claim.
 *
 * @param nextDueIn how long to wait before the next claim, if that is known: until the next job is
 *     due, when nothing was; zero when there was more to look at than one claim does
 */
public record Claimed(List<Lease> leases, Optional<Duration> nextDueIn) {

  public static final Claimed NOTHING = new Claimed(List.of(), Optional.empty());
}
