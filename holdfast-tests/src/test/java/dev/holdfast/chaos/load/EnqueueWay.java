package dev.holdfast.chaos.load;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.NewJob;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;

/** A way for jobs to get to Holdfast, on which any answer may be lost. For one thread. */
public interface EnqueueWay {

  /**
   * Stores these jobs, or finds that an earlier try did. Whoever gets an exception does not know
   * which, and asks again with the same jobs until there is an answer.
   *
   * @return the jobs' ids, in their order
   */
  List<UUID> store(List<NewJob> jobs) throws SQLException, HoldfastException;
}
