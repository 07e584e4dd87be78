package dev.holdfast.server.auth;

import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * Lets secrets be looked up: those that were good before as they come, all others a few at a time,
 * in the order of their coming. Whoever makes secrets up so has a few connections' worth of the
 * database and no more, and cannot lock anybody out: nobody is refused, and whose secret is good
 * waits for strangers once at most. Of this node alone. Thread-safe.
 */
final class Doorkeeper {

  // Half of the connections that are set aside for those who must not wait.
  private static final int AT_ONCE = 3;
  private static final int MOST_KNOWN = 100_000;

  private final Semaphore strangers = new Semaphore(AT_ONCE, true);
  private final Set<String> known = ConcurrentHashMap.newKeySet(); // by their hashes

  /** Answers what the look-up of a secret does. */
  <T> Optional<T> ask(byte[] hash, Supplier<Optional<T>> lookUp) {
    String face = HexFormat.of().formatHex(hash);
    boolean isKnown = known.contains(face);
    Optional<T> found = isKnown ? lookUp.get() : askInTurn(lookUp);
    if (found.isEmpty()) {
      known.remove(face); // it was good, and is no longer
    } else if (!isKnown) {
      remember(face);
    }
    return found;
  }

  private <T> Optional<T> askInTurn(Supplier<Optional<T>> lookUp) {
    strangers.acquireUninterruptibly(); // no longer than those before it are looked up
    try {
      return lookUp.get();
    } finally {
      strangers.release();
    }
  }

  private void remember(String face) {
    if (known.size() >= MOST_KNOWN) {
      known.clear(); // each waits once more
    }
    known.add(face);
  }
}
