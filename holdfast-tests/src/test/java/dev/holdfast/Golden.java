package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Files that say what something looks like, so that a change of it shows in review. With the system
 * property {@code holdfast.golden.update} the tests write them anew instead of comparing.
 */
public final class Golden {

  private static final String UPDATE = "holdfast.golden.update";

  private Golden() {}

  /** Compares with a file of this module's {@code src/test/resources/golden}. */
  public static void assertMatches(String file, String actual) throws IOException {
    assertMatches(Path.of("src/test/resources/golden", file), actual);
  }

  /** Compares with any file; relative paths start at this module's directory. */
  public static void assertMatches(Path file, String actual) throws IOException {
    if (Boolean.getBoolean(UPDATE)) {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.writeString(file, actual);
    }
    assertThat(actual)
        .as(
            "%s is not what it was; if that is meant, renew the file with -D%s=true and look at"
                + " the difference",
            file, UPDATE)
        .isEqualTo(Files.readString(file));
  }
}
