package dev.holdfast.interleaving;

import dev.holdfast.interleaving.Explorer.Found;
import dev.holdfast.rig.Tampering;
import java.sql.SQLException;
import java.util.Optional;

/** The interleavings in small, of an engine whose statements somebody has tampered with. */
public final class InterleavingRun {

  private static final int PREEMPTIONS = 2;

  private InterleavingRun() {}

  /** What gives the tampering away within so many orders of each scenario; empty if nothing. */
  public static Optional<String> firstFailure(Tampering tampering, int plays)
      throws SQLException, InterruptedException {
    try (Explorer explorer = new Explorer(tampering)) {
      for (Scenario scenario : Scenario.all()) {
        Found found =
            explorer.explore(scenario, PREEMPTIONS, Math.min(plays, scenario.plays() * 2));
        if (found.failure().isPresent()) {
          return Optional.of(
              "order %d of %s"
                  .formatted(found.plays(), found.failure().get().replaceFirst("\n\\s*", " ")));
        }
      }
    }
    return Optional.empty();
  }
}
