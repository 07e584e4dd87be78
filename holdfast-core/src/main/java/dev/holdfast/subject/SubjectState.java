package dev.holdfast.subject;

import java.time.Instant;
import java.util.UUID;

/** Where a subject is, and which job put it there. */
public record SubjectState(String type, String id, String state, UUID jobId, Instant updatedAt) {}
