package dev.holdfast.model;

import dev.holdfast.rig.Sandbox;
import dev.holdfast.rig.Tampering;
import java.sql.SQLException;
import java.util.Optional;

/** The model test in small, against an engine that somebody has tampered with. */
public final class ModelRun {

  private ModelRun() {}

  /** What gives the tampering away within so many commands; empty when nothing does. */
  public static Optional<String> firstDisagreement(Tampering tampering, long commands)
      throws SQLException {
    Tally tally = new Tally();
    try (Neighbour neighbour = new Neighbour();
        Sandbox sandbox = new Sandbox("planted", tampering, neighbour::mixUp)) {
      Sequences sequences = new Sequences(sandbox, neighbour, tally);
      for (long seed = 1; tally.commands() < commands; seed++) {
        Optional<RuntimeException> why = sequences.attempt(Seed.of(seed)).why();
        if (why.isPresent()) {
          return Optional.of("command %d, %s".formatted(tally.commands(), brief(why.get())));
        }
      }
    }
    return Optional.empty();
  }

  private static String brief(RuntimeException why) {
    return why instanceof Disagreement disagreement ? disagreement.brief() : why.toString();
  }
}
