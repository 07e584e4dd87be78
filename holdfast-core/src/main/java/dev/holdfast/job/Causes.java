package dev.holdfast.job;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Walks the chain of an exception's causes. */
public final class Causes {

  private Causes() {}

  /**
   * The exception itself, then its cause, that one's cause and so on.
   *
   * @param most the length at which the list ends
   */
  public static List<Throwable> of(Throwable thrown, int most) {
    List<Throwable> found = new ArrayList<>();
    for (Throwable each = thrown; each != null && found.size() < most; each = causeOf(each)) {
      found.add(each);
    }
    return found;
  }

  // An exception class may override getCause(), which may then throw even an Error.
  private static @Nullable Throwable causeOf(Throwable thrown) {
    try {
      return thrown.getCause();
    } catch (Throwable e) {
      return null;
    }
  }
}
