package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Holds docs/conformance.md and the tests of all modules to each other. */
class SpecCoverageTest {

  private static final Path ROOT = Path.of("..");
  private static final Path TABLE = ROOT.resolve("docs/conformance.md");
  private static final String NOT_BUILT = "not built yet";

  private static final Pattern ROW =
      Pattern.compile("^\\| ([A-E]\\d+) \\| (.+) \\| (.+) \\|$", Pattern.MULTILINE);
  private static final Pattern TEST_NAME = Pattern.compile("`(\\w+)`");
  private static final Pattern COVERS = Pattern.compile("@Covers\\(([^)]*)\\)");
  private static final Pattern QUOTED = Pattern.compile("\"([^\"]*)\"");

  /** One row: an id, and the tests that are said to prove it. */
  private record Requirement(String id, boolean built, Set<String> tests) {}

  private final List<Requirement> table = new ArrayList<>();
  // Which test classes cover an id, by their own word.
  private final Map<String, Set<String>> covered = new TreeMap<>();

  @BeforeEach
  void read() throws IOException {
    ROW.matcher(Files.readString(TABLE))
        .results()
        .forEach(row -> {
          Set<String> tests = found(TEST_NAME, row.group(3));
          table.add(new Requirement(row.group(1), !row.group(3).equals(NOT_BUILT), tests));
        });
    try (Stream<Path> files = Files.walk(ROOT)) {
      files.filter(SpecCoverageTest::isTestSource).forEach(this::readTest);
    }
  }

  @Test
  void the_table_has_every_id_of_the_documents_once_and_in_order() {
    List<String> expected =
        Stream.of(ids("A", 16), ids("B", 13), ids("C", 17), ids("D", 12), ids("E", 13))
            .flatMap(ids -> ids)
            .toList();

    assertThat(table).extracting(Requirement::id).isEqualTo(expected);
  }

  @Test
  void every_requirement_has_a_test_or_is_marked_not_built_yet() {
    assertThat(table)
        .filteredOn(Requirement::built)
        .extracting(Requirement::id)
        .as("ids that some test says it @Covers")
        .isSubsetOf(covered.keySet());
  }

  @Test
  void a_requirement_that_has_a_test_is_not_marked_not_built_yet() {
    assertThat(table)
        .filteredOn(requirement -> !requirement.built)
        .extracting(Requirement::id)
        .as("ids marked '%s'; take the mark off those with a test", NOT_BUILT)
        .doesNotContainAnyElementsOf(covered.keySet());
  }

  @Test
  void tests_cover_only_requirements_that_exist() {
    assertThat(covered.keySet()).isSubsetOf(table.stream().map(Requirement::id).toList());
  }

  @Test
  void the_tests_that_the_table_names_cover_what_it_says() {
    assertThat(table)
        .filteredOn(Requirement::built)
        .allSatisfy(requirement -> {
          assertThat(requirement.tests).as("tests named for %s", requirement.id).isNotEmpty();
          assertThat(covered.getOrDefault(requirement.id, Set.of()))
              .as("test classes that @Covers %s", requirement.id)
              .containsAll(requirement.tests);
        });
  }

  private static Stream<String> ids(String document, int count) {
    return IntStream.rangeClosed(1, count).mapToObj(number -> document + number);
  }

  private static boolean isTestSource(Path file) {
    String path = file.toString().replace('\\', '/');
    return path.contains("/src/test/java/")
        && path.endsWith(".java")
        && !path.endsWith("/SpecCoverageTest.java");
  }

  private void readTest(Path file) {
    String name = file.getFileName().toString().replace(".java", "");
    try {
      COVERS
          .matcher(Files.readString(file))
          .results()
          .flatMap(covers -> found(QUOTED, covers.group(1)).stream())
          .forEach(id -> covered.computeIfAbsent(id, unseen -> new TreeSet<>()).add(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Set<String> found(Pattern pattern, String text) {
    Set<String> found = new TreeSet<>();
    pattern.matcher(text).results().forEach(match -> found.add(match.group(1)));
    return found;
  }
}
