package dev.holdfast.job;

import java.util.UUID;

/**
 * A job's move from one state to another.
 *
 * @param from {@code RUNNING} for every job whose attempt ends, also for one that was asked to stop
 * @param fence the fence of the attempt that begins or ends with the move; the last attempt's fence
 *     when a person moved the job
 */
public record Moved(
    UUID jobId, String kind, String queue, Needs needs, JobState from, JobState to, long fence) {}
