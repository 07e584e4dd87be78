package dev.holdfast.overview;

import java.time.Instant;

/**
 * What has happened in a tenant so far, for whoever takes the difference of two of them. A little
 * late, because the database counts what was written after the fact.
 *
 * @param enqueued jobs that came to wait, also those sent back to the queue by hand
 * @param started leases that were given out
 * @param finished jobs that ended
 * @param failed among them, within the last minutes alone
 */
public record Counters(Instant at, long enqueued, long started, long finished, long failed) {}
