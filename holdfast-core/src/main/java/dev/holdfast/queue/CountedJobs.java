package dev.holdfast.queue;

import java.util.List;
import java.util.UUID;

/**
 * A page of jobs for those who page by how many came before.
 *
 * @param total how many there are in all, of those that were looked at
 */
public record CountedJobs(List<UUID> ids, long total) {

  public CountedJobs {
    ids = List.copyOf(ids);
  }
}
