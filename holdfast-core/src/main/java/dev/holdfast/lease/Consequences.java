package dev.holdfast.lease;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Moved;
import dev.holdfast.tenant.SqlErrors;
import java.sql.SQLException;
import java.util.List;
import org.jdbi.v3.core.Handle;

/** Passes on the moves of jobs: to workers that wait, and to the application's own tables. */
@FunctionalInterface
public interface Consequences {

  String HOOK = "transition hook";

  /**
   * Called after the commit when jobs may have become claimable: parked ones that were woken, or
   * others that were queued again.
   */
  void woken();

  /** Called with every move, in its transaction. */
  default TransitionHook hook() {
    return TransitionHook.NONE;
  }

  default boolean isHooked() {
    return !hook().equals(TransitionHook.NONE);
  }

  /** Calls the hook, in the transaction that moves the jobs. */
  default void moved(Handle handle, List<Moved> moved) {
    if (isHooked() && !moved.isEmpty()) {
      try {
        hook().moved(handle.getConnection(), moved);
      } catch (SQLException e) {
        throw isTheDatabases(e) ? SqlErrors.translated(HOOK, e) : itsOwn(e);
      } catch (RuntimeException e) {
        throw isTheDatabases(e) || !SqlErrors.isSql(e) ? e : itsOwn(e);
      } catch (Throwable e) {
        // An Error, or an exception that other languages than Java need not declare. Callers handle
        // exceptions of one job's hook apart from the others' jobs, and would not handle these.
        throw itsOwn(e);
      }
    }
  }

  // A timeout while waiting for the hook's own tables counts as the hook's failure, not as the
  // database's: it may happen again and again for one kind of job, and all other jobs would wait,
  // too.
  private static boolean isTheDatabases(Exception e) {
    return SqlErrors.isPassing(e) && !SqlErrors.isImpatience(e);
  }

  // The exception is suppressed, not the cause: callers would conclude from a cause that our own
  // tables are gone, or that what we wrote is bad.
  private static HoldfastException itsOwn(Throwable e) {
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
