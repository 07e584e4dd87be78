package dev.holdfast.fleet;

import java.time.Instant;

/**
 * A worker as others see it.
 *
 * @param online it has been heard of lately
 * @param draining somebody asked it to take nothing more
 */
public record WorkerState(
    WorkerInfo info, Instant startedAt, Instant beatAt, boolean online, boolean draining) {}
