package dev.holdfast.fleet;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A worker that had permits which no job wanted.
 *
 * @param kinds the kinds that it runs; empty is any
 * @param since from when on that is certain
 * @param until up to when
 * @param pollInterval how often it looks for jobs without being told of any
 */
public record IdleWorker(
    String name,
    String host,
    List<String> labels,
    List<String> queues,
    Optional<List<String>> kinds,
    Instant since,
    Instant until,
    Duration pollInterval) {}
