package dev.holdfast.queue;

import java.time.Instant;

/** One line of a job's log. Later lines have larger numbers. */
public record LogEntry(long number, Instant at, String text) {}
