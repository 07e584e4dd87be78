package dev.holdfast.lease;

import java.util.UUID;

/** Which grant is meant: the job, and the fence that no later grant of it shares. */
public record LeaseKey(String tenant, UUID jobId, long fence) {}
