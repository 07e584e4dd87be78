package dev.holdfast.planted;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.rig.Tampering;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Shows that the rigs are worth something: guards of the engine are taken away one after the other,
 * in its statements, in its tables and in its Java, and a rig must notice. Before a rig is asked
 * for the first time, it runs against the engine as it is, and must notice nothing. Takes hours, so
 * it is no part of the daily tests: {@code ./holdfast prove planted}, and {@code --only} the names
 * of some. What noticed which is written to {@code target/planted.md}.
 */
class PlantedBugs {

  private static final List<String> ONLY =
      List.of(System.getProperty("holdfast.planted.only", "all").split(","));

  private final Table table = new Table();
  private final Map<String, Seen> controls = new HashMap<>();
  private long controlNanos;

  @Test
  @Timeout(value = 12, unit = TimeUnit.HOURS)
  void every_guard_that_is_taken_away_is_missed() throws Exception {
    for (PlantedBug bug : PlantedBug.values()) {
      run(bug.name(), bug.isHarmless(), () -> seen(bug));
    }
    for (PlantedHole hole : PlantedHole.values()) {
      run(hole.name(), hole.isHarmless(), () -> byModelAndInterleavings(hole.tampering()));
    }
    for (PlantedPair pair : PlantedPair.values()) {
      run(pair.name(), false, () -> seen(pair));
    }
    for (PlantedPatch patch : PlantedPatch.all()) {
      run(patch.name(), false, () -> seen(patch));
    }

    assertThat(table.wrong()).isEmpty();
    assertThat(table.isEmpty()).as("nothing is called %s", ONLY).isFalse();
  }

  private void run(String name, boolean isHarmless, Rigs.Look look) throws Exception {
    if (!ONLY.contains("all") && !ONLY.contains(name)) {
      return;
    }
    long began = System.nanoTime();
    controlNanos = 0;
    Seen seen = Rigs.inTime(look);
    table.add(name, isHarmless, seen, System.nanoTime() - began - controlNanos);
  }

  /** What a rig sees, unless it sees something, too, when there is nothing to be seen. */
  private Seen controlled(String rig, Rigs.Look control, Rigs.Look look) throws Exception {
    if (!controls.containsKey(rig)) {
      long began = System.nanoTime();
      Seen unharmed = Rigs.inTime(control);
      long nanos = System.nanoTime() - began;
      controlNanos += nanos;
      controls.put(rig, unharmed);
      table.addControl(rig, unharmed, nanos);
    }
    return controls.get(rig) instanceof Seen.Nothing
        ? look.look()
        : new Seen.Broken("nor is anything right for " + rig + " with the guard in its place");
  }

  private Seen seen(PlantedBug bug) throws Exception {
    Tampering tampering = Tampering.with(bug);
    Seen seen =
        bug.isInTheOrderOfLocks()
            ? controlled(
                "the order of locks",
                () -> Rigs.byOrderOfLocks(Tampering.nothing()),
                () -> Rigs.byOrderOfLocks(tampering))
            : byModelAndInterleavings(tampering);
    return unlessUntouched(tampering, seen);
  }

  private Seen seen(PlantedPair pair) throws Exception {
    Tampering tampering = pair.tampering();
    return unlessUntouched(tampering, byModelAndInterleavings(tampering));
  }

  private static Seen unlessUntouched(Tampering tampering, Seen seen) {
    return tampering.changes() == 0
        ? new Seen.Broken("no statement came that has the guard")
        : seen;
  }

  private Seen byModelAndInterleavings(Tampering tampering) throws Exception {
    List<Rigs.Look> looks = new ArrayList<>();
    looks.add(() -> byModel(tampering, Rigs.COMMANDS / 4));
    looks.add(() ->
        controlled(
            "the interleavings",
            () -> Rigs.byInterleavings(Tampering.nothing()),
            () -> Rigs.byInterleavings(tampering)));
    looks.add(() -> byModel(tampering, Rigs.COMMANDS));
    for (Rigs.Look look : looks) {
      Seen seen = look.look();
      if (!(seen instanceof Seen.Nothing)) {
        return seen;
      }
    }
    return tampering.absence().<Seen>map(Seen.Absence::new).orElseGet(Seen.Nothing::new);
  }

  private Seen byModel(Tampering tampering, long commands) throws Exception {
    return controlled(
        "the model",
        () -> Rigs.byModel(Tampering.nothing(), Rigs.COMMANDS),
        () -> Rigs.byModel(tampering, commands));
  }

  private Seen seen(PlantedPatch patch) throws Exception {
    Trial trial = patch.trial();
    return controlled(
        String.join(" ", trial.name(), String.join(" ", trial.properties())).strip(),
        () -> Rigs.unharmed(PatchedEngine.unpatched(patch)),
        () -> trial.judge(PatchedEngine.patched(patch)));
  }
}
