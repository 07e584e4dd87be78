package dev.holdfast.queue;

import java.util.UUID;

/**
 * The result of an enqueue.
 *
 * @param id the id of the new job, or of the one that exists already
 * @param created false when a job with the same id or unique key exists already
 */
public record Enqueued(UUID id, boolean created) {}
