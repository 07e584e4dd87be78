package dev.holdfast.queue;

import java.time.Instant;
import java.util.Optional;

/**
 * What became of a job, as far as its own row does not show it.
 *
 * @param at when an attempt last ended or a person last acted on the job
 * @param attemptEnded when an attempt last ended that did not end the job
 */
public record Touched(Instant at, Optional<Instant> attemptEnded) {}
