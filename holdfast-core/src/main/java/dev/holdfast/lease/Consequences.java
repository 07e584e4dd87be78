package dev.holdfast.lease;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Moved;
import dev.holdfast.tenant.SqlErrors;
import java.sql.SQLException;
import java.util.List;
import org.jdbi.v3.core.Handle;

/** What the moves of jobs mean to others: workers that wait, the application's own tables. */
@FunctionalInterface
public interface Consequences {

  String HOOK = "transition hook";

  /** After the commit: jobs that had to wait for a resource can be claimed. */
  void woken();

  /** Called with every move, in its transaction. */
  default TransitionHook hook() {
    return TransitionHook.NONE;
  }

  default boolean isHooked() {
    return !hook().equals(TransitionHook.NONE);
  }

  /** In the transaction that moves them. */
  default void moved(Handle handle, List<Moved> moved) {
    if (isHooked() && !moved.isEmpty()) {
      try {
        hook().moved(handle.getConnection(), moved);
      } catch (SQLException e) {
        throw isTheDatabases(e) ? SqlErrors.translated(HOOK, e) : itsOwn(e);
      } catch (RuntimeException e) {
        throw isTheDatabases(e) || !SqlErrors.isSql(e) ? e : itsOwn(e);
      }
    }
  }

  // How long it waits for its own tables is the hook's affair: it may do so again and again for one
  // kind of jobs, and all others would wait with them.
  private static boolean isTheDatabases(Exception e) {
    return SqlErrors.isPassing(e) && !SqlErrors.isImpatience(e);
  }

  // Not as the cause, from which it would be concluded that our own tables are gone, or that what
  // we wrote is bad.
  private static HoldfastException itsOwn(Exception e) {
    HoldfastException failure =
        new HoldfastException(ErrorCode.DATABASE, HOOK + ": " + e.getMessage());
    failure.addSuppressed(e);
    return failure;
  }

  static Consequences of(Runnable woken, TransitionHook hook) {
    return new Consequences() {
      @Override
      public void woken() {
        woken.run();
      }

      @Override
      public TransitionHook hook() {
        return hook;
      }
    };
  }
}
