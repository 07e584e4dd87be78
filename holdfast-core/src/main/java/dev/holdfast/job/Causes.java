package dev.holdfast.job;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What lies behind an exception. */
public final class Causes {

  private Causes() {}

  /** The exception itself, then its cause, that one's cause and so on: so many at most. */
  public static List<Throwable> of(Throwable thrown, int most) {
    List<Throwable> found = new ArrayList<>();
    for (Throwable each = thrown; each != null && found.size() < most; each = causeOf(each)) {
      found.add(each);
    }
    return found;
  }

  // Others write an exception's methods, and those may throw even an Error.
  private static @Nullable Throwable causeOf(Throwable thrown) {
    try {
      return thrown.getCause();
    } catch (Throwable e) {
      return null;
    }
  }
}
