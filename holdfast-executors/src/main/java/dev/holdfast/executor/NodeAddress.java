package dev.holdfast.executor;

import java.util.Optional;

/**
 * A machine that a job is for, as the registry of nodes has it.
 *
 * @param keyFile on the machine that runs the executor
 * @param connection how it is reached, where that is not by SSH
 */
public record NodeAddress(
    String id,
    String host,
    Optional<Integer> port,
    Optional<String> user,
    Optional<String> keyFile,
    Optional<String> connection) {}
