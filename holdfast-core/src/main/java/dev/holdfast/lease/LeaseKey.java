package dev.holdfast.lease;

import java.util.UUID;

/** Identifies one grant: the job, and the fence that no later grant of the job shares. */
public record LeaseKey(String tenant, UUID jobId, long fence) {}
