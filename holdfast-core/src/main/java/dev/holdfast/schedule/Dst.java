package dev.holdfast.schedule;

/**
 * What happens to local times that occur twice, or not at all, because clocks are changed.
 *
 * @param twice for times that occur twice, because clocks are set back
 * @param missing for times that do not occur, because clocks are set forward
 */
public record Dst(Twice twice, Missing missing) {

  public static final Dst DEFAULTS = new Dst(Twice.ONCE, Missing.SHIFT);

  /** When a slot fires whose time occurs twice. */
  public enum Twice {
    /** Fires the first time. */
    ONCE,
    BOTH,
    SKIP
  }

  /** When a slot fires whose time does not occur. */
  public enum Missing {
    /** Fires as much later as the clocks were set forward. */
    SHIFT,
    SKIP
  }
}
