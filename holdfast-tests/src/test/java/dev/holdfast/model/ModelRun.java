package dev.holdfast.model;

import dev.holdfast.rig.Sandbox;
import java.sql.SQLException;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** The model test in small, against an engine whose statements somebody has tampered with. */
public final class ModelRun {

  private ModelRun() {}

  /** What gives the tampering away within so many commands; empty when nothing does. */
  public static Optional<String> firstDisagreement(UnaryOperator<String> rewrite, long commands)
      throws SQLException {
    return firstDisagreement(rewrite, "", commands);
  }

  /**
   * The same of an engine whose tables were tampered with, too.
   *
   * @param ddl what was done to them; nothing when it is empty
   */
  public static Optional<String> firstDisagreement(
      UnaryOperator<String> rewrite, String ddl, long commands) throws SQLException {
    Tally tally = new Tally();
    try (Neighbour neighbour = new Neighbour();
        Sandbox sandbox = new Sandbox("planted", sql -> neighbour.mixUp(rewrite.apply(sql)))) {
      if (!ddl.isEmpty()) {
        sandbox.execute(ddl);
      }
      Sequences sequences = new Sequences(sandbox, neighbour, tally);
      for (long seed = 1; tally.commands() < commands; seed++) {
        Optional<RuntimeException> why = sequences.attempt(Seed.of(seed)).why();
        if (why.isPresent()) {
          return Optional.of("command %d: %s".formatted(tally.commands(), why.get().getMessage()));
        }
      }
    }
    return Optional.empty();
  }
}
