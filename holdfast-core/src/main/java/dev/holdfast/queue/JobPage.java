package dev.holdfast.queue;

import dev.holdfast.job.Job;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A page of the jobs that match a filter, newest id first.
 *
 * @param after the id to continue after; empty at the end of the list. A short page, even an empty
 *     one, may have it: a page ends after as many jobs as it may look at, even if few of them
 *     match, and after as many bytes as fit into one.
 */
public record JobPage(List<Job> jobs, Optional<UUID> after) {}
