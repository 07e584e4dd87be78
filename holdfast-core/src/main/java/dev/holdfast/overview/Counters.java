package dev.holdfast.overview;

import java.time.Instant;

/**
 * What has happened in a tenant so far, for callers that take the difference of two of these. A
 * little late, because the database counts written rows only afterwards.
 *
 * @param enqueued jobs that were enqueued, or sent back to the queue after they had finished
 * @param started leases that were granted
 * @param finished jobs that finished
 * @param failed jobs that failed, counted only since the moment that the caller gave
 */
public record Counters(Instant at, long enqueued, long started, long finished, long failed) {}
