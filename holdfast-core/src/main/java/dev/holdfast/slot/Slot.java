package dev.holdfast.slot;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * A moment at which a schedule was due.
 *
 * @param reason why it ended as it did, where that is not obvious
 * @param jobId the job that was enqueued for it, if any
 */
public record Slot(
    String schedule,
    Instant scheduledFor,
    SlotStatus status,
    Optional<String> reason,
    Optional<UUID> jobId,
    Optional<Instant> startedAt,
    Optional<Instant> finishedAt) {}
