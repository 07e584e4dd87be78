package dev.holdfast.chaos;

/**
 * How often something rare was really reached, and how often it has to be for a run to show
 * anything; or how long something took, and how long it may take.
 */
record Reached(String what, long times, long floor, long ceiling) {

  static Reached atLeast(long floor, String what, long times) {
    return new Reached(what, times, floor, Long.MAX_VALUE);
  }

  static Reached atMost(long ceiling, String what, long times) {
    return new Reached(what, times, 0, ceiling);
  }

  boolean isAmiss() {
    return times < floor || times > ceiling;
  }

  @Override
  public String toString() {
    String least = floor == 0 ? "" : "  (at least %,d)".formatted(floor);
    String most = ceiling == Long.MAX_VALUE ? "" : "  (at most %,d)".formatted(ceiling);
    return "%,9d  %s%s%s".formatted(times, what, least, most);
  }
}
