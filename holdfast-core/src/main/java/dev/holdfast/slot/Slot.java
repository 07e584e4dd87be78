package dev.holdfast.slot;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * A moment at which a schedule was due.
 *
 * @param reason why it ended as it did, where that is not plain
 * @param jobId empty when none was enqueued for it
 */
public record Slot(
    String schedule,
    Instant scheduledFor,
    SlotStatus status,
    Optional<String> reason,
    Optional<UUID> jobId,
    Optional<Instant> startedAt,
    Optional<Instant> finishedAt) {}
