package dev.holdfast.server.auth;

import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Lets secrets be looked up: those that were good before as they come, all others a few at a time.
 * Whoever makes secrets up so has a few connections' worth of the database and no more, and whose
 * secret is good waits for strangers once at most. Those who must not wait have a line of their
 * own, as they have connections of their own. Of this node alone. Thread-safe.
 */
final class Doorkeeper {

  // Half of the connections that are set aside for those who must not wait.
  private static final int AT_ONCE = 3;
  private static final int MOST_KNOWN = 100_000;

  private final FairLimit strangers = new FairLimit(AT_ONCE);
  private final FairLimit inAHurry = new FairLimit(AT_ONCE);
  private final Set<String> known = ConcurrentHashMap.newKeySet(); // by their hashes

  /** Answers what the look-up of a secret does. */
  <T> Optional<T> ask(byte[] hash, Supplier<Optional<T>> lookUp) {
    return ask(hash, strangers, lookUp);
  }

  /** The same for those who must not wait behind everybody else. */
  <T> Optional<T> askAtOnce(byte[] hash, Supplier<Optional<T>> lookUp) {
    return ask(hash, inAHurry, lookUp);
  }

  private <T> Optional<T> ask(byte[] hash, FairLimit line, Supplier<Optional<T>> lookUp) {
    String face = HexFormat.of().formatHex(hash);
    boolean isKnown = known.contains(face);
    Optional<T> found = isKnown ? lookUp.get() : line.take(lookUp);
    if (found.isEmpty()) {
      known.remove(face); // it was good, and is no longer
    } else if (!isKnown) {
      remember(face);
    }
    return found;
  }

  private void remember(String face) {
    if (known.size() >= MOST_KNOWN) {
      known.clear(); // each waits once more
    }
    known.add(face);
  }
}
