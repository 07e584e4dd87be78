package dev.holdfast.chaos;

/**
 * How often something rare was really reached, and how often it has to be for a run to show
 * anything.
 */
record Reached(String what, long times, long floor) {

  boolean isTooRare() {
    return times < floor;
  }

  @Override
  public String toString() {
    String demand = floor == 0 ? "" : "  (at least %,d)".formatted(floor);
    return "%,9d  %s%s".formatted(times, what, demand);
  }
}
