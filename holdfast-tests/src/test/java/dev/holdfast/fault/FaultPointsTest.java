package dev.holdfast.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.fault.Operation.Trait;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Every operation, failing on both sides of each of its statements and commits. For every fault at
 * every point: {@code -Dholdfast.faults.everything=true}; for one operation: {@code
 * -Dholdfast.faults.only='finish: retry'}.
 */
@Order(1) // takes minutes
class FaultPointsTest {

  static final boolean EVERYTHING = Boolean.getBoolean("holdfast.faults.everything");
  private static final String ONLY = System.getProperty("holdfast.faults.only", "");
  private static final int RUNNERS = Integer.getInteger("holdfast.faults.runners", 2);
  private static final int MOST_SHOWN = 40;
  private static final int FEWEST_CELLS = 10_000; // there are nearly 12,000

  /** Statements that no operation here comes past, and why. */
  private static final Map<String, String> ELSEWHERE =
      Map.ofEntries(
          Map.entry("JobInsert.INSERT_SEVERAL", "FaultyCompanyTest: it takes several threads"),
          Map.entry("Tenants.REGISTER", "TenantFaultsTest"),
          Map.entry("Tenants.GO_ON_FROM", "TenantFaultsTest"),
          Map.entry("Tenants.UNREGISTER", "TenantFaultsTest"),
          Map.entry("Tenants.REMEMBER_FENCE", "TenantFaultsTest"),
          Map.entry("Namesakes.HAD", "TenantFaultsTest"),
          Map.entry("Namesakes.FORGET_WORKERS", "TenantFaultsTest"),
          Map.entry("Tenants.LIST", "TenantFaultsTest"),
          Map.entry("Tenants.HOLD", "TenantFaultsTest"),
          Map.entry(
              "RepeatableClaims.RENEW_ONE", "FaultyRenewalTest: it takes somebody else at the row"),
          Map.entry("Overview.LEASED", "a read alone, of tenants with many jobs"),
          Map.entry("TenantRotation.HAS_WORK", "a read alone, of all tenants of the database"));

  private final Tally tally = new Tally();
  private final List<String> complaints = Collections.synchronizedList(new ArrayList<>());

  @Test
  @Timeout(value = 12, unit = TimeUnit.HOURS) // of everything there is, where somebody asks for it
  void whatever_fails_and_wherever_an_operation_is_done_or_not_and_can_be_repeated()
      throws Exception {
    long began = System.nanoTime();

    runAll(operations());

    System.out.printf(
        "Faults: %s%n  in %d s, %d complaints%n",
        tally, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began), complaints.size());
    complaints.stream().limit(MOST_SHOWN).forEach(System.out::println);
    assertThat(complaints).isEmpty();
    if (ONLY.isEmpty()) {
      everyOperationAndFaultWasTried();
    }
  }

  private static List<Operation> operations() {
    return Stream.of(
            EnqueueOperations.all(),
            LeaseOperations.all(),
            FinishOperations.all(),
            ActOperations.all(),
            ReaperOperations.all(),
            sparingly(ScheduleOperations.all()),
            sparingly(RemoteOperations.all()),
            sparingly(HouseOperations.all()),
            sparingly(ReadOperations.all()))
        .flatMap(List::stream)
        .filter(operation -> operation.name().contains(ONLY))
        .toList();
  }

  private static List<Operation> sparingly(List<Operation> operations) {
    return operations.stream().map(each -> each.with(Trait.SPARINGLY)).toList();
  }

  private void everyOperationAndFaultWasTried() {
    assertThat(tally.pointsOf()).hasSize(operations().size());
    assertThat(tally.pointsOf().values()).allMatch(points -> points >= 1);
    assertThat(tally.faults().keySet())
        .containsExactlyInAnyOrder(
            "SERIALIZATION_FAILURE",
            "DEADLOCK",
            "READ_ONLY",
            "CONNECTION_LOST",
            "ADMIN_SHUTDOWN",
            "NO_CONNECTION",
            "TOO_MANY_CONNECTIONS",
            "COMMIT_OUTCOME_UNKNOWN_DONE",
            "COMMIT_OUTCOME_UNKNOWN_NOT_DONE");
    if (EVERYTHING) {
      assertThat(tally.tried()).isEqualTo(tally.cells()).isGreaterThan(FEWEST_CELLS);
    }
    assertThat(tally.stored().keySet()).contains("before", "after");
    assertThat(tally.reach().missing())
        .as("statements that no operation comes past; add one, or say why there is none")
        .isEqualTo(ELSEWHERE.keySet());
  }

  private void runAll(List<Operation> operations) throws Exception {
    Queue<Operation> left = new ConcurrentLinkedQueue<>(operations);
    ExecutorService runners = Executors.newFixedThreadPool(RUNNERS);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < RUNNERS; i++) {
        running.add(runners.submit(() -> runUntilDone(left)));
      }
      for (Future<?> each : running) {
        each.get();
      }
    } finally {
      runners.shutdownNow();
    }
  }

  private Void runUntilDone(Queue<Operation> left) throws Exception {
    try (Rig rig = new Rig(tally, new Troubles(EVERYTHING))) {
      long deadlocks = rig.deadlocks();
      for (Operation next = left.poll(); next != null; next = left.poll()) {
        complaints.addAll(run(rig, next));
      }
      assertThat(rig.deadlocks()).isEqualTo(deadlocks);
    }
    return null;
  }

  private static List<String> run(Rig rig, Operation operation) {
    try {
      return rig.run(operation);
    } catch (Exception e) {
      return List.of(operation.name() + " cannot be tried: " + e);
    }
  }
}
