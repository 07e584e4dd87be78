package dev.holdfast.hold;

import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** The resources that an attempt holds, its fence, and when its lease ends. */
public record Held(UUID jobId, long fence, List<String> resources, Instant leaseExpiresAt) {}
