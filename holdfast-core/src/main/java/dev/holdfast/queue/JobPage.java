package dev.holdfast.queue;

import dev.holdfast.job.Job;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Some of the jobs that were asked for, newest id first.
 *
 * @param after where to go on; empty when that were all. A page may be short, even empty, and still
 *     have one: where few jobs are of the kind that was asked for, it ends after as many as may be
 *     looked at for one page; and where they are large, after as many as fit into one.
 */
public record JobPage(List<Job> jobs, Optional<UUID> after) {}
