package dev.holdfast.schedule;

import java.time.Instant;
import java.util.Optional;

/**
 * A schedule and where it is.
 *
 * @param nextAt its next slot; empty while it is disabled
 * @param declared by an application's code
 */
public record Planned(Schedule schedule, Optional<Instant> nextAt, boolean declared) {}
