package dev.holdfast.server.auth;

import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Limits the look-ups of secrets in the database. Secrets that were valid before are looked up at
 * once, all others a few at a time. So requests with made-up secrets take only a few connections,
 * and a valid secret waits behind them at most once. Urgent requests have a limit of their own, as
 * they have connections of their own. Per node. Thread-safe.
 */
final class Doorkeeper {

  // Half of the reserved connections.
  private static final int AT_ONCE = 3;
  private static final int MOST_KNOWN = 100_000;

  private final FairLimit unknown = new FairLimit(AT_ONCE);
  private final FairLimit urgentUnknown = new FairLimit(AT_ONCE);
  private final Set<String> known = ConcurrentHashMap.newKeySet(); // hashes of valid secrets

  /** Returns what {@code lookUp} returns, after waiting for its turn if the secret is not known. */
  <T> Optional<T> ask(byte[] hash, Supplier<Optional<T>> lookUp) {
    return ask(hash, unknown, lookUp);
  }

  /** The same for urgent requests, which do not wait behind the others. */
  <T> Optional<T> askAtOnce(byte[] hash, Supplier<Optional<T>> lookUp) {
    return ask(hash, urgentUnknown, lookUp);
  }

  private <T> Optional<T> ask(byte[] hash, FairLimit line, Supplier<Optional<T>> lookUp) {
    String hexHash = HexFormat.of().formatHex(hash);
    boolean isKnown = known.contains(hexHash);
    Optional<T> found = isKnown ? lookUp.get() : line.take(lookUp);
    if (found.isEmpty()) {
      known.remove(hexHash); // if it was valid, it no longer is
    } else if (!isKnown) {
      remember(hexHash);
    }
    return found;
  }

  private void remember(String hexHash) {
    if (known.size() >= MOST_KNOWN) {
      known.clear(); // each secret may wait once more
    }
    known.add(hexHash);
  }
}
