package dev.holdfast.chaos.fleet;

import dev.holdfast.chaos.ledger.LedgerClient;
import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.util.function.Supplier;

/** What all processes of the fleet have in common: how they begin, and how they end. */
final class Life {

  private static final int MOST_STARTS = 5;

  private final String name;
  private final LedgerClient ledger;

  private Life(String name, LedgerClient ledger) {
    this.name = name;
    this.ledger = ledger;
  }

  /** With what every main is told first. */
  static Life begin(String[] args) throws IOException {
    return new Life(args[0], new LedgerClient(Integer.parseInt(args[1]), args[0]));
  }

  String name() {
    return name;
  }

  LedgerClient ledger() {
    return ledger;
  }

  /** A start into which a cut of the nemesis falls is tried again, as whoever starts it would. */
  static <T> T started(Supplier<T> start) {
    for (int left = MOST_STARTS; ; left--) {
      try {
        return start.get();
      } catch (HoldfastException e) {
        if (left == 1) {
          throw e;
        }
      }
    }
  }

  /** Goes on until it is terminated, or its standard input ends: whoever started it is gone. */
  void goOn(String readyLine, AutoCloseable work) throws IOException {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> {
              try {
                work.close();
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
              ledger.says("bye");
            }));
    System.out.println(readyLine);
    while (System.in.read() >= 0) {
      // nothing is ever sent
    }
    Runtime.getRuntime().halt(1);
  }
}
