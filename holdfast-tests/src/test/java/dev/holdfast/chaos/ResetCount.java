package dev.holdfast.chaos;

/**
 * Adds up a count of PostgreSQL's statistics, which begin anew at 0 when it recovers from a crash.
 * For one thread.
 */
final class ResetCount {

  private long before; // the last reset
  private long last;

  void sees(long count) {
    if (count < last) {
      before += last;
    }
    last = count;
  }

  long total() {
    return before + last;
  }
}
