package dev.holdfast.lease;

import dev.holdfast.job.Moved;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Lets the application's own tables follow its jobs: called with the connection whose transaction
 * moves the jobs, so that both commit or neither. When the hook throws, the jobs do not move; the
 * move is tried again.
 *
 * <p>Every process that moves jobs (workers, and processes in which operators act on jobs) calls
 * its own hook, so give all of them the same. Most starts and ends are a single statement without a
 * hook, and need a transaction with one. Others may wait for what that transaction has locked, and
 * the server ends it when it is idle for five seconds; so a hook does nothing slow besides SQL. In
 * that transaction, the server prefers indexes and compiles no plans.
 */
@FunctionalInterface
public interface TransitionHook {

  TransitionHook NONE = (connection, moved) -> {};

  void moved(Connection connection, List<Moved> moved) throws SQLException;
}
