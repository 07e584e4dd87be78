package dev.holdfast.job;

import java.time.Instant;
import java.util.Optional;

/** One line of a job's history: an attempt that ended, and how. */
public record AttemptRecord(
    long fence,
    int number,
    String worker,
    String outcome,
    Instant startedAt,
    Instant finishedAt,
    Optional<String> errorCode,
    Optional<String> errorMessage,
    Optional<String> logExcerpt) {}
