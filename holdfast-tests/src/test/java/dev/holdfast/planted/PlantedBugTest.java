package dev.holdfast.planted;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.CoreStatement;
import dev.holdfast.rig.Tampering;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The planted bugs run seldom; that there still is something to take away, and somebody to notice,
 * is seen every day.
 */
class PlantedBugTest {

  // As they come to the driver.
  private static final List<String> STATEMENTS =
      CoreStatement.all().stream()
          .map(statement -> statement.sql().replaceAll("(?<!:):[a-z_]+", "?"))
          .toList();

  @ParameterizedTest
  @EnumSource(PlantedBug.class)
  void a_planted_bug_finds_its_statement_and_the_guard_in_it(PlantedBug bug) {
    assertThat(STATEMENTS).anyMatch(bug::finds);
  }

  @ParameterizedTest
  @EnumSource(PlantedBug.class)
  void a_statement_without_its_guard_has_places_for_as_many_values(PlantedBug bug) {
    assertThat(STATEMENTS.stream().filter(bug::finds))
        .allMatch(sql -> Tampering.places(bug.rewritten(sql)) == Tampering.places(sql));
  }

  @ParameterizedTest
  @EnumSource(PlantedHole.class)
  void a_planted_hole_is_one_in_the_tables_as_they_are(PlantedHole hole) throws IOException {
    try (InputStream golden =
        Objects.requireNonNull(
            PlantedBugTest.class.getResourceAsStream("/golden/tenant-schema.txt"))) {
      assertThat(new String(golden.readAllBytes(), StandardCharsets.UTF_8))
          .containsPattern("(CONSTRAINT |INDEX |\n  )" + hole.guard() + "\\b");
    }
  }

  static List<PlantedPatch> patches() {
    return PlantedPatch.all();
  }

  @ParameterizedTest
  @MethodSource("patches")
  void a_planted_patch_finds_the_guards_in_their_sources(PlantedPatch patch) throws IOException {
    for (Cut cut : patch.cuts()) {
      assertThat(cut.isThere()).as("%s has %s", cut.source(), cut.guard()).isTrue();
    }
  }

  @ParameterizedTest
  @MethodSource("patches")
  void the_tests_that_must_notice_a_planted_patch_are_there(PlantedPatch patch)
      throws ClassNotFoundException {
    Class<?> test = Class.forName(patch.trial().test());
    Stream<Class<?>> contracts =
        Stream.iterate(test, type -> !type.equals(Object.class), Class::getSuperclass);

    assertThat(contracts.flatMap(type -> Arrays.stream(type.getDeclaredMethods())))
        .extracting(Method::getName)
        .containsAll(patch.trial().methods());
    assertThat(patch.trial().methods()).isNotEmpty();
  }
}
