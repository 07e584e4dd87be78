package dev.holdfast.planted;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.interleaving.InterleavingRun;
import dev.holdfast.lockorder.LockOrderRun;
import dev.holdfast.model.ModelRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Shows that the rigs are worth something: guards of the engine are taken away one after the other,
 * in its statements, in its tables and in its Java, and a rig must notice. Takes half an hour, so
 * it is no part of the daily tests: {@code ./holdfast prove planted}, and {@code --only} the names
 * of some. What noticed which is written to {@code target/planted.md}.
 */
class PlantedBugs {

  private static final List<String> ONLY =
      List.of(System.getProperty("holdfast.planted.only", "all").split(","));
  private static final long COMMANDS = Long.getLong("holdfast.planted.commands", 8_000);
  private static final int PLAYS = Integer.getInteger("holdfast.planted.plays", 60);

  private static final Path TABLE = Path.of("target", "planted.md");

  private final List<String> rows = new ArrayList<>();
  private final List<String> uncaught = new ArrayList<>();

  @Test
  @Timeout(value = 3, unit = TimeUnit.HOURS)
  void every_guard_that_is_taken_away_is_missed() throws Exception {
    for (PlantedBug bug : PlantedBug.values()) {
      run(bug.name(), bug.isHarmless(), () -> caught(bug));
    }
    for (PlantedHole hole : PlantedHole.values()) {
      run(hole.name(), false, () -> caught(hole));
    }
    for (PlantedPatch patch : PlantedPatch.values()) {
      run(patch.name(), false, () -> caught(patch));
    }
    assertThat(uncaught).isEmpty();
  }

  /** Who noticed, and how. */
  private record Caught(String by, String how) {}

  private interface Rig {
    Optional<Caught> run() throws Exception;
  }

  private void run(String name, boolean isHarmless, Rig rig) throws Exception {
    if (!ONLY.contains("all") && !ONLY.contains(name)) {
      return;
    }
    long began = System.nanoTime();
    Optional<Caught> caught = rig.run();
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
    String by = caught.map(Caught::by).orElse(isHarmless ? "nobody: a second guard" : "NOBODY");
    System.out.printf(
        "Planted: %s, %s, %d s, %s%n", name, by, seconds, caught.map(Caught::how).orElse(""));
    rows.add("| `%s` | %s | %d s |".formatted(name, by, seconds));
    if (caught.isEmpty() && !isHarmless) {
      uncaught.add(name);
    }
    List<String> table = new ArrayList<>(List.of("| bug | caught by | after |", "|---|---|---|"));
    table.addAll(rows);
    Files.write(TABLE, table);
  }

  private static Optional<Caught> caught(PlantedBug bug) throws Exception {
    AtomicInteger changed = new AtomicInteger();
    UnaryOperator<String> planted =
        sql -> {
          String rewritten = bug.apply(sql);
          changed.addAndGet(rewritten.equals(sql) ? 0 : 1);
          return rewritten;
        };
    Optional<Caught> caught =
        bug.isInTheOrderOfLocks()
            ? LockOrderRun.firstFailure(planted).map(how -> new Caught("the order of locks", how))
            : byModelAndInterleavings(planted);
    assertThat(changed.get()).as("%s is still there to be taken away", bug).isPositive();
    return caught;
  }

  private static Optional<Caught> caught(PlantedHole hole) throws Exception {
    return ModelRun.firstDisagreement(UnaryOperator.identity(), hole.ddl(), COMMANDS)
        .map(how -> new Caught("the model", how));
  }

  private static Optional<Caught> caught(PlantedPatch patch) throws Exception {
    return PatchedEngine.firstFailure(patch)
        .map(how -> new Caught(patch.rig().replaceFirst(".*\\.", ""), how));
  }

  private static Optional<Caught> byModelAndInterleavings(UnaryOperator<String> planted)
      throws Exception {
    Optional<Caught> caught = byModel(planted, COMMANDS / 4);
    if (caught.isEmpty()) {
      caught =
          InterleavingRun.firstFailure(planted, PLAYS)
              .map(how -> new Caught("the interleavings", how));
    }
    return caught.isPresent() ? caught : byModel(planted, COMMANDS);
  }

  private static Optional<Caught> byModel(UnaryOperator<String> planted, long commands)
      throws Exception {
    return ModelRun.firstDisagreement(planted, commands).map(how -> new Caught("the model", how));
  }
}
