package dev.holdfast.subject;

import java.time.Instant;
import java.util.UUID;

/** The state of a subject, and the job that moved it there. */
public record SubjectState(String type, String id, String state, UUID jobId, Instant updatedAt) {}
