package dev.holdfast.interleaving;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.interleaving.Explorer.Found;
import dev.holdfast.rig.Tampering;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Two and three users of the real engine on a real database, stepped statement by statement in
 * orders that interrupt them at most so often: with every build in the first so many of them, and
 * in all with {@code -Dholdfast.interleaving.plays=100000}, which fails where those are not enough.
 * Each play must leave no deadlock, no broken invariant and no job that never ends. More: {@code
 * -Dholdfast.interleaving.preemptions=3}; and {@code -Dholdfast.interleaving.only} the names of
 * some.
 */
@Order(1) // takes minutes
class InterleavingTest {

  private static final int PREEMPTIONS = Integer.getInteger("holdfast.interleaving.preemptions", 2);
  private static final int PLAYS = Integer.getInteger("holdfast.interleaving.plays", 0);
  private static final String ONLY = System.getProperty("holdfast.interleaving.only", "all");

  @Test
  @Timeout(value = 12, unit = TimeUnit.HOURS)
  void no_order_of_statements_deadlocks_breaks_an_invariant_or_loses_a_job() throws Exception {
    List<String> failures = new ArrayList<>();
    List<Scenario> incomplete = new ArrayList<>();
    int plays = 0;
    try (Explorer explorer = new Explorer(Tampering.nothing())) {
      for (Scenario scenario : chosen()) {
        Found found = explorer.explore(scenario, PREEMPTIONS, PLAYS > 0 ? PLAYS : scenario.plays());
        plays += found.plays();
        System.out.printf(
            "Interleavings: %s, %d orders of up to %d statements%s%n",
            scenario,
            found.plays(),
            found.mostStatements(),
            found.isComplete() ? ", all with at most " + PREEMPTIONS + " interruptions" : "");
        found.failure().ifPresent(failures::add);
        if (!found.isComplete()) {
          incomplete.add(scenario);
        }
      }
    }
    System.out.printf(
        "Interleavings: %d orders, %d failures; of %d scenarios, %d have more orders with at most"
            + " %d interruptions%n",
        plays, failures.size(), chosen().size(), incomplete.size(), PREEMPTIONS);
    assertThat(failures).isEmpty();
    if (PLAYS > 0) {
      assertThat(incomplete).as("scenarios with more than %d orders", PLAYS).isEmpty();
    }
  }

  private static List<Scenario> chosen() {
    List<String> names = List.of(ONLY.split(","));
    return Scenario.all().stream()
        .filter(each -> ONLY.equals("all") || names.contains(each.name()))
        .toList();
  }
}
