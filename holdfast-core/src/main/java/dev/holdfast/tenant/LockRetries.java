package dev.holdfast.tenant;

import dev.holdfast.error.HoldfastException;
import java.util.function.Supplier;

/**
 * For transactions that lock whole tables. Whatever asks for a lock that such a transaction waits
 * for has to wait behind it, heartbeats as well. So it waits only briefly, gives up all of its
 * locks, and begins again.
 */
final class LockRetries {

  private static final int MOST_TRIES = 100; // each takes a tenth of a second, or a few

  private LockRetries() {}

  static <T> T run(Supplier<T> transaction) {
    for (int tries = 1; ; tries++) {
      try {
        return transaction.get();
      } catch (HoldfastException e) {
        if (!SqlErrors.isLockTimeout(e) || tries == MOST_TRIES) {
          throw e;
        }
      }
    }
  }

  static void run(Runnable transaction) {
    Boolean unused =
        run(() -> {
          transaction.run();
          return true;
        });
  }
}
