package dev.holdfast.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.Sequences.Attempt;
import dev.holdfast.model.Sequences.Failed;
import dev.holdfast.rig.Sandbox;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The model test's own promise: what fails is made short, and found again by seed and by file. */
class ShrinkingTest {

  private static final int REPLAYS = 30;

  @TempDir Path directory;

  // Ends of jobs free nothing any more.
  private static String sabotaged(String sql) {
    return sql.matches("(?s).*DELETE FROM \\S+hold\\s+WHERE ctid.*")
        ? sql.replaceFirst("WHERE", "WHERE false AND")
        : sql;
  }

  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void a_sequence_that_fails_is_made_short_and_fails_again_by_its_seed_and_as_it_was_kept()
      throws Exception {
    try (Sandbox sandbox = new Sandbox("shrinking", ShrinkingTest::sabotaged);
        Neighbour neighbour = new Neighbour()) {
      Sequences sequences = new Sequences(sandbox, neighbour, new Tally(), REPLAYS);
      long number = 1;
      Optional<Failed> failed = sequences.run(Seed.of(number));
      while (failed.isEmpty()) {
        failed = sequences.run(Seed.of(++number));
      }

      Failed shortest = failed.get();
      Attempt again = sequences.attempt(Seed.read(shortest.name()));
      assertThat(again.why()).isPresent();
      assertThat(shortest.commands()).hasSizeLessThanOrEqualTo(again.commands().size() / 2);
      Path kept = CommandFile.write(directory, shortest);
      assertThat(sequences.run("kept", CommandFile.read(kept))).isPresent();
    }
  }
}
