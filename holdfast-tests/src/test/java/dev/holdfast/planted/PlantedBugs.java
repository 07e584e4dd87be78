package dev.holdfast.planted;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.interleaving.InterleavingRun;
import dev.holdfast.lockorder.LockOrderRun;
import dev.holdfast.model.ModelRun;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Shows that the rigs are worth something: each guard of the protocol of holds is taken away in
 * turn, and the model test, the interleavings or the order of locks must notice. Takes a quarter of
 * an hour, so it is no part of the daily tests: {@code ./holdfast prove planted}, and {@code
 * --only} the names of some.
 */
class PlantedBugs {

  private static final String WHICH = System.getProperty("holdfast.planted.only", "all");
  private static final long COMMANDS = Long.getLong("holdfast.planted.commands", 8_000);
  private static final int PLAYS = Integer.getInteger("holdfast.planted.plays", 60);

  @Test
  @Timeout(value = 2, unit = TimeUnit.HOURS)
  void every_guard_that_is_taken_away_is_missed() throws Exception {
    List<PlantedBug> uncaught = new ArrayList<>();
    for (PlantedBug bug : PlantedBug.values()) {
      if (WHICH.equals("all") || Arrays.asList(WHICH.split(",")).contains(bug.name())) {
        if (!isCaught(bug) && !bug.isHarmless()) {
          uncaught.add(bug);
        }
      }
    }
    assertThat(uncaught).isEmpty();
  }

  private static boolean isCaught(PlantedBug bug) throws Exception {
    AtomicInteger changed = new AtomicInteger();
    UnaryOperator<String> planted =
        sql -> {
          String rewritten = bug.apply(sql);
          changed.addAndGet(rewritten.equals(sql) ? 0 : 1);
          return rewritten;
        };
    Optional<String> caught =
        bug.isInTheOrderOfLocks() ? byLockOrder(planted) : byModelAndInterleavings(planted);
    System.out.printf("Planted: %s, %s%n", bug, caught.orElse("NOT caught"));
    assertThat(changed.get()).as("%s is still there to be taken away", bug).isPositive();
    return caught.isPresent();
  }

  private static Optional<String> byLockOrder(UnaryOperator<String> planted) throws Exception {
    return LockOrderRun.firstFailure(planted).map(how -> "caught by the order of locks, " + how);
  }

  private static Optional<String> byModelAndInterleavings(UnaryOperator<String> planted)
      throws Exception {
    Optional<String> caught = byModel(planted, COMMANDS / 4);
    if (caught.isEmpty()) {
      caught =
          InterleavingRun.firstFailure(planted, PLAYS)
              .map(how -> "caught by the interleavings, " + how);
    }
    return caught.isPresent() ? caught : byModel(planted, COMMANDS);
  }

  private static Optional<String> byModel(UnaryOperator<String> planted, long commands)
      throws SQLException {
    return ModelRun.firstDisagreement(planted, commands).map(how -> "caught by the model, " + how);
  }
}
