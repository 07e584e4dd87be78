package dev.holdfast.hold;

import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** What an attempt holds, under which fence, and until when its worker may be thought alive. */
public record Held(UUID jobId, long fence, List<String> resources, Instant leaseExpiresAt) {}
