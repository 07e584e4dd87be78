package dev.holdfast.fleet;

import dev.holdfast.job.Payload;
import java.time.Instant;
import java.util.Optional;

/**
 * A registered worker.
 *
 * @param place where a list continues after it; its name is not enough, because a process may have
 *     several workers of one name
 * @param online whether it was heard from lately
 * @param draining whether it was asked to claim nothing more
 * @param vitals what it last said about itself: load, memory, version; empty for most workers
 */
public record WorkerState(
    WorkerInfo info,
    String place,
    Instant startedAt,
    Instant beatAt,
    boolean online,
    boolean draining,
    Optional<Payload> vitals) {}
