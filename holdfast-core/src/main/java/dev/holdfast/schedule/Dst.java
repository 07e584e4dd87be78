package dev.holdfast.schedule;

/**
 * What happens when clocks are set: a time on the wall may come twice, or not at all.
 *
 * @param twice when they are set back
 * @param missing when they are set forward
 */
public record Dst(Twice twice, Missing missing) {

  public static final Dst DEFAULTS = new Dst(Twice.ONCE, Missing.SHIFT);

  /** A time that occurs twice. */
  public enum Twice {
    /** Fires the first time. */
    ONCE,
    BOTH,
    SKIP
  }

  /** A time that does not occur. */
  public enum Missing {
    /** Fires as much later as the clocks were set forward. */
    SHIFT,
    SKIP
  }
}
