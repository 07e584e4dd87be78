package dev.holdfast.lease;

import dev.holdfast.job.Payload;
import java.sql.Connection;

/** A handler's own writes, to be committed together with the completion of its job. */
@FunctionalInterface
public interface TransactionWork {

  /**
   * Does the writes.
   *
   * @param connection in a transaction; committed, rolled back and closed by the caller
   * @return the job's result
   */
  Payload run(Connection connection) throws Exception;
}
