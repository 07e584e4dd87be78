package dev.holdfast.lockorder;

import dev.holdfast.rig.Tampering;
import java.sql.SQLException;
import java.util.Optional;

/** The order of locks, of an engine whose statements somebody has tampered with. */
public final class LockOrderRun {

  private LockOrderRun() {}

  /** What gives the tampering away; empty if nothing does. */
  public static Optional<String> firstFailure(Tampering tampering)
      throws SQLException, InterruptedException {
    try (LockOrder order = new LockOrder(tampering)) {
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
