package dev.holdfast.invariant;

import java.util.Optional;
import java.util.UUID;

/**
 * Something that must never be, and is.
 *
 * @param id of the rule in {@code docs/invariants.md}, such as {@code I6}
 * @param detail what is wrong with the job, or with the resource where there is one
 */
public record Violation(
    String id, Optional<UUID> jobId, Optional<String> resource, String detail) {}
