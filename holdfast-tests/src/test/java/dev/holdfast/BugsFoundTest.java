package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Holds docs/bugs-found.md to the tests of all modules. */
class BugsFoundTest {

  private static final Path ROOT = Path.of("..");
  private static final Path TABLES = ROOT.resolve("docs/bugs-found.md");

  private static final Pattern ROW =
      Pattern.compile("^\\| (?!what was wrong|---).*$", Pattern.MULTILINE);
  private static final Pattern THIRD_OF_FOUR_CELLS =
      Pattern.compile("^\\|[^|]+\\|[^|]+\\|([^|]+)\\|[^|]+\\|$");
  private static final Pattern CLASS = Pattern.compile("`(\\w+)`");
  private static final Pattern TEST_SOURCE = Pattern.compile("/src/test/.*/(\\w+)\\.java$");

  @Test
  void every_bug_has_a_regression_test_or_says_that_it_has_none() throws IOException {
    assertThat(regressionTests()).allMatch(cell -> cell.contains("`") || cell.contains("none"));
  }

  @Test
  void every_regression_test_that_is_named_exists() throws IOException {
    List<String> named =
        regressionTests().stream().flatMap(cell -> found(CLASS, 1, cell)).distinct().toList();

    assertThat(named).isNotEmpty().isSubsetOf(testClasses());
  }

  private static List<String> regressionTests() throws IOException {
    List<String> bugs = found(ROW, 0, Files.readString(TABLES)).toList();
    List<String> tests = bugs.stream().flatMap(bug -> found(THIRD_OF_FOUR_CELLS, 1, bug)).toList();
    assertThat(tests).as("one cell for each bug").isNotEmpty().hasSameSizeAs(bugs);
    return tests;
  }

  private static List<String> testClasses() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files.flatMap(file -> found(TEST_SOURCE, 1, file.toString())).toList();
    }
  }

  private static Stream<String> found(Pattern pattern, int group, String text) {
    return pattern.matcher(text).results().map(match -> match.group(group));
  }
}
