package dev.holdfast.model;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.util.function.Supplier;

/** What is done once more when somebody hears that the tenant is another one now. */
final class Retries {

  private Retries() {}

  static <T> T once(Supplier<T> work) {
    try {
      return work.get();
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.STATE_CONFLICT || !isMadeAnew(e)) {
        throw e;
      }
      return work.get();
    }
  }

  private static boolean isMadeAnew(HoldfastException e) {
    return String.valueOf(e.getMessage()).contains("made anew");
  }
}
