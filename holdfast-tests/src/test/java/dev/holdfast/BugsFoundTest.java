package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Holds docs/bugs-found.md to the tests of all modules. */
class BugsFoundTest {

  private static final Path ROOT = Path.of("..");
  private static final Path TABLES = ROOT.resolve("docs/bugs-found.md");

  private static final Pattern ROW =
      Pattern.compile("^\\| (?!what was wrong|---).*$", Pattern.MULTILINE);
  private static final Pattern CELLS = Pattern.compile("(?:\\|[^|]+){2}\\|([^|]+)\\|[^|]+\\|");
  private static final Pattern CLASS = Pattern.compile("`(\\w+)`");

  @Test
  void every_bug_has_a_regression_test_or_says_that_it_has_none() throws IOException {
    assertThat(rows()).isNotEmpty().allMatch(row -> row.matches(CELLS.pattern()));
    assertThat(regressionTests()).allMatch(cell -> cell.contains("`") || cell.contains("none"));
  }

  @Test
  void every_regression_test_that_is_named_exists() throws IOException {
    List<String> named =
        regressionTests().stream()
            .flatMap(cell -> found(CLASS, 1, cell))
            .map(name -> name + ".java")
            .toList();

    assertThat(named).isNotEmpty().isSubsetOf(testSources());
  }

  private static List<String> rows() throws IOException {
    return found(ROW, 0, Files.readString(TABLES)).toList();
  }

  private static List<String> regressionTests() throws IOException {
    return rows().stream().flatMap(row -> found(CELLS, 1, row)).toList();
  }

  private static Stream<String> found(Pattern pattern, int group, String text) {
    return pattern.matcher(text).results().map(match -> match.group(group));
  }

  private static Set<String> testSources() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(file -> file.toString().replace('\\', '/').contains("/src/test/"))
          .map(file -> file.getFileName().toString())
          .collect(Collectors.toSet());
    }
  }
}
