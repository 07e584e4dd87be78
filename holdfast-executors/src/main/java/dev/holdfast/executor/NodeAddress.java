package dev.holdfast.executor;

import java.util.Optional;

/**
 * A machine on which a job runs, from the registry of nodes.
 *
 * @param keyFile a path on the machine that runs the executor
 * @param connection how it is reached, if not by SSH
 */
public record NodeAddress(
    String id,
    String host,
    Optional<Integer> port,
    Optional<String> user,
    Optional<String> keyFile,
    Optional<String> connection) {}
