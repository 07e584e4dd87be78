package dev.holdfast.job;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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

  /** The first exception of this type among {@link #of}. */
  public static <T extends Throwable> Optional<T> first(Class<T> type, Throwable thrown, int most) {
    return of(thrown, most).stream().filter(type::isInstance).map(type::cast).findFirst();
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
