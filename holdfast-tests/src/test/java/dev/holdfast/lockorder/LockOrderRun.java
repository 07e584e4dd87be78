package dev.holdfast.lockorder;

import java.sql.SQLException;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** The order of locks, of an engine whose statements somebody has tampered with. */
public final class LockOrderRun {

  private LockOrderRun() {}

  /** What gives the tampering away; empty if nothing does. */
  public static Optional<String> firstFailure(UnaryOperator<String> rewrite)
      throws SQLException, InterruptedException {
    try (LockOrder order = new LockOrder(rewrite)) {
      for (Locking locking : Locking.values()) {
        Optional<String> failure = order.firstFailure(locking);
        if (failure.isPresent()) {
          return failure;
        }
      }
    }
    return Optional.empty();
  }
}
