package dev.holdfast.fleet;

import java.time.Duration;

/**
 * What a worker says that has permits left over.
 *
 * @param length for how long no job has wanted them
 * @param pollInterval how often it looks for jobs without being told of any
 */
public record IdleTime(Duration length, Duration pollInterval) {}
