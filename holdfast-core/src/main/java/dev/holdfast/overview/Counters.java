package dev.holdfast.overview;

import java.time.Instant;

/**
 * What has happened in a tenant so far, for callers that take the difference of two of these. A
 * little late, because the database counts written rows only afterwards.
 *
 * @param enqueued jobs that were enqueued, or sent back to the queue after they had finished
 * @param claims those that were granted a job, or several
 * @param finished jobs that finished, as whatever
 * @param failed jobs that failed, counted only since the moment that the caller gave
 */
public record Counters(Instant at, long enqueued, long claims, long finished, long failed) {}
