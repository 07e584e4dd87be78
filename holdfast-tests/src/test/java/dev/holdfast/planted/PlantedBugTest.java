package dev.holdfast.planted;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.CoreStatement;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The planted bugs run seldom; that there still is something to take away is seen every day. */
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
  @EnumSource(PlantedPatch.class)
  void a_planted_patch_finds_the_guard_in_its_source(PlantedPatch patch) throws IOException {
    assertThat(PatchedEngine.sourceOf(patch)).matches(patch::finds, "has the guard");
  }
}
