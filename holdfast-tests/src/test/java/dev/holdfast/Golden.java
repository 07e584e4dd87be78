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
  private static final String END = "<!-- End of what is drawn. -->";

  private Golden() {}

  /** Compares with a file of this module's {@code src/test/resources/golden}. */
  public static void assertMatches(String file, String actual) throws IOException {
    assertMatches(Path.of("src/test/resources/golden", file), actual);
  }

  /**
   * Compares with the part of a document that a test draws: all between the marks that name it.
   *
   * @param drawnBy the test's class
   */
  public static void assertDrawn(Path doc, Class<?> drawnBy, String drawn) throws IOException {
    String mark =
        "<!-- From here to the end mark: drawn by %s. -->".formatted(drawnBy.getSimpleName());
    String text = Files.readString(doc);
    assertThat(text).contains(mark, END);
    int begin = text.indexOf(mark) + mark.length();
    assertMatches(
        doc,
        text.substring(0, begin)
            + "\n\n"
            + drawn.strip()
            + "\n\n"
            + text.substring(text.indexOf(END, begin)));
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
