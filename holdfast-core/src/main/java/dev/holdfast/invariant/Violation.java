package dev.holdfast.invariant;

import java.util.Optional;
import java.util.UUID;

/**
 * A broken invariant.
 *
 * @param id the id of the rule in {@code docs/invariants.md}, such as {@code I6}
 * @param detail what is wrong with the job, or with the resource if there is one
 */
public record Violation(
    String id, Optional<UUID> jobId, Optional<String> resource, String detail) {}
