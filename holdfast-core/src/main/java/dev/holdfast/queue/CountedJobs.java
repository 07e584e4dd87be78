package dev.holdfast.queue;

import java.util.List;
import java.util.UUID;

/**
 * A page of jobs, for callers that page by offset.
 *
 * @param total how many jobs match in all, among those that were looked at
 */
public record CountedJobs(List<UUID> ids, long total) {

  public CountedJobs {
    ids = List.copyOf(ids);
  }
}
