package dev.holdfast.fleet;

import dev.holdfast.job.Payload;
import java.time.Instant;
import java.util.Optional;

/**
 * A worker as others see it.
 *
 * @param online it has been heard of lately
 * @param draining somebody asked it to take nothing more
 * @param place where a list goes on after it; a name is not enough, because a process may be
 *     several workers of one name
 * @param vitals what it last said about itself: load, memory, version; nothing, for most
 */
public record WorkerState(
    WorkerInfo info,
    String place,
    Instant startedAt,
    Instant beatAt,
    boolean online,
    boolean draining,
    Optional<Payload> vitals) {}
