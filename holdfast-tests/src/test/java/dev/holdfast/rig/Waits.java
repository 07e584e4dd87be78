package dev.holdfast.rig;

import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jdbi.v3.core.Handle;

/** Sees who waits for whose locks. */
public final class Waits {

  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private Waits() {}

  /** Returns once another session waits for a lock of this one's transaction. */
  public static void untilSomebodyWaitsFor(Handle holder) throws SQLException {
    untilSomebodyWaitsFor(holder, () -> false);
  }

  /** Returns once another session waits for a lock of this one's transaction, or has given up. */
  public static void untilSomebodyWaitsFor(Handle holder, BooleanSupplier isOver)
      throws SQLException {
    until(
        holder,
        "SELECT count(*) FROM pg_stat_activity WHERE ? = ANY (pg_blocking_pids(pid))",
        isOver);
  }

  /** Returns once one session waits for this one's transaction, and another for either of them. */
  public static void untilTwoWaitBehind(Handle holder) throws SQLException {
    until(
        holder,
        """
        SELECT count(*) - 1
          FROM (SELECT pid, pg_blocking_pids(pid) AS by FROM pg_stat_activity) AS waiting,
               (SELECT ?::integer AS pid) AS holder
         WHERE holder.pid = ANY (by)
            OR EXISTS (SELECT FROM unnest(by) AS first
                        WHERE holder.pid = ANY (pg_blocking_pids(first)))
        """,
        () -> false);
  }

  private static void until(Handle holder, String sql, BooleanSupplier isOver) throws SQLException {
    int pid = holder.createQuery("SELECT pg_backend_pid()").mapTo(Integer.class).one();
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    try (Connection watch = DriverManager.getConnection(TestDatabase.shared().jdbcUrl());
        PreparedStatement waiting = watch.prepareStatement(sql)) {
      waiting.setInt(1, pid);
      while (!isOver.getAsBoolean() && !isPositive(waiting)) {
        if (System.nanoTime() > deadline) {
          throw new AssertionError("nobody waits for session " + pid);
        }
        Thread.onSpinWait();
      }
    }
  }

  private static boolean isPositive(PreparedStatement count) throws SQLException {
    try (ResultSet row = count.executeQuery()) {
      row.next();
      return row.getLong(1) > 0;
    }
  }
}
