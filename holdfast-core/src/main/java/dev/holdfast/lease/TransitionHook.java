package dev.holdfast.lease;

import dev.holdfast.job.Moved;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * The application's own tables follow its jobs: called with the connection whose transaction moves
 * them, so that both commit or neither. When it throws, the jobs do not move; they are tried again.
 *
 * <p>Every process that moves jobs (workers, and whoever acts on them) calls its own hook, so give
 * all of them the same. Starting and ending take a transaction more than without a hook. Others may
 * wait for what that transaction has locked: the server ends it when it says nothing for five
 * seconds, so a hook does nothing slow but SQL. The server is told there to prefer indexes and to
 * compile no plans.
 */
@FunctionalInterface
public interface TransitionHook {

  TransitionHook NONE = (connection, moved) -> {};

  void moved(Connection connection, List<Moved> moved) throws SQLException;
}
