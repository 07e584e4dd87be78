package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Assumptions;

/** Checks for programs that a test needs and that not every machine has. */
public final class Tools {

  private Tools() {}

  /**
   * Skips the test where a program is missing, and says so. Where CI is set, the test fails
   * instead, because a skipped test is never noticed there.
   */
  public static void require(String... programs) {
    for (String program : programs) {
      require(find(program), program + " is installed");
    }
  }

  /** The same for any other condition. */
  public static void require(boolean isThere, String what) {
    if ("true".equals(System.getenv("CI"))) {
      assertThat(isThere).as(what).isTrue();
    }
    if (!isThere) {
      System.out.println("Skipped, as it is not so: " + what);
    }
    Assumptions.assumeTrue(isThere, "not so: " + what);
  }

  private static boolean find(String program) {
    String path = System.getenv("PATH") + ":/usr/sbin:/usr/bin";
    return Arrays.stream(path.split(File.pathSeparator, -1))
        .map(directory -> Path.of(directory, program))
        .anyMatch(Files::isExecutable);
  }
}
