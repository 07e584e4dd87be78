package dev.holdfast.lockorder;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.CoreStatement;
import dev.holdfast.rig.Tampering;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Whoever locks several rows that another may have locks them in one order, also within a single
 * statement: held up at each of them in turn, it has all those before and none of those after.
 */
class LockOrderTest {

  private static final Pattern SEVERAL_ROWS =
      Pattern.compile(
          "(UPDATE|DELETE FROM)"
              + " \\{schema}\\.(job|resource|slot|subject|schedule)\\s[\\s\\S]*\\bANY\\b|(ANY|unnest)\\b[\\s\\S]*\\b(FOR"
              + " (UPDATE|SHARE)|ON CONFLICT)");

  // What they write, their transaction has locked before, or leased.
  private static final Set<String> HAVE_THE_LOCKS =
      Set.of(
          "Waiting.PARK",
          "Waiting.RESERVE",
          "ContestedClaims.GRANT",
          "SharedClaims.ASSIGN",
          "ResourcePruner.REMOVE",
          "Reports.ITEMS",
          "FencelessReports.GIVEN",
          "Enqueuer.UNDO");

  @ParameterizedTest
  @EnumSource
  void rows_are_locked_in_one_order(Locking locking) throws Exception {
    try (LockOrder order = new LockOrder(Tampering.nothing())) {
      assertThat(order.firstFailure(locking)).isEmpty();
    }
  }

  @Test
  void whatever_waits_for_several_rows_is_tried() {
    Set<String> tried =
        Arrays.stream(Locking.values())
            .flatMap(locking -> locking.statements().stream())
            .collect(Collectors.toSet());

    List<String> untried =
        CoreStatement.all().stream()
            .filter(statement -> SEVERAL_ROWS.matcher(statement.sql()).find())
            .filter(statement -> !statement.sql().contains("SKIP LOCKED"))
            .map(CoreStatement::toString)
            .filter(name -> !tried.contains(name) && !HAVE_THE_LOCKS.contains(name))
            .toList();

    assertThat(untried).isEmpty();
  }
}
