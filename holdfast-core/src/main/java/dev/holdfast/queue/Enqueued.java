package dev.holdfast.queue;

import java.util.UUID;

/**
 * The answer to an enqueue.
 *
 * @param created false when the id or the unique key was there already; {@code id} is then that
 *     job's
 */
public record Enqueued(UUID id, boolean created) {}
