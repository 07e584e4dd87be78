package dev.holdfast.doctor;

import java.util.List;
import java.util.Optional;

/**
 * The result of a check.
 *
 * @param check what was checked
 * @param remedy what to do about it; empty if all is well
 */
public record Finding(String check, Level level, String detail, Optional<String> remedy) {

  /** How much it matters. */
  public enum Level {
    OK,
    /** It works, and may not for long, or not as well as it could. */
    WARN,
    /** Something does not work, or what was acknowledged may be lost. */
    FAIL
  }

  public static Finding ok(Check check, String detail) {
    return new Finding(check.name(), Level.OK, detail, Optional.empty());
  }

  public static Finding warn(Check check, String detail, String remedy) {
    return new Finding(check.name(), Level.WARN, detail, Optional.of(remedy));
  }

  public static Finding fail(Check check, String detail, String remedy) {
    return new Finding(check.name(), Level.FAIL, detail, Optional.of(remedy));
  }

  public static Level worst(List<Finding> findings) {
    return findings.stream().map(Finding::level).max(Level::compareTo).orElse(Level.OK);
  }
}
