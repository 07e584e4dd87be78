package dev.holdfast.queue;

import dev.holdfast.job.Job;
import java.util.List;

/**
 * A page of jobs for those who page by how many came before.
 *
 * @param total how many there are in all, of those that were looked at
 */
public record CountedJobs(List<Job> jobs, long total) {

  public CountedJobs {
    jobs = List.copyOf(jobs);
  }
}
