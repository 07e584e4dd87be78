package dev.holdfast.job;

import java.util.UUID;

/**
 * A job that goes from one state to another.
 *
 * @param from {@code RUNNING} for any job whose attempt ends, also one that was asked to stop
 * @param fence of the attempt that begins or ends with it; of the last one, when a person moved it
 */
public record Moved(
    UUID jobId, String kind, String queue, Needs needs, JobState from, JobState to, long fence) {}
