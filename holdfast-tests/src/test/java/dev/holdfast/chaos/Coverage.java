package dev.holdfast.chaos;

import dev.holdfast.chaos.nemesis.Blow;
import dev.holdfast.chaos.nemesis.Nemesis;
import dev.holdfast.chaos.verdict.Figures;
import dev.holdfast.chaos.verdict.Figures.Figure;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What a run has reached, so that none can pass by doing nothing, or by taking for ever. */
final class Coverage {

  // Lease, kill grace and the reaper's period are 13 s together; the rest is for a queue in which
  // two thousand stand, and for a machine with more processes than cores.
  private static final Duration LONGEST_RECOVERY = Duration.ofMinutes(1);
  // A retry keeps its place in line, and a thousand jobs may stand there, two a second going on.
  private static final Duration LONGEST_OTHER_RECOVERY = Duration.ofMinutes(10);

  private final List<Reached> all = new ArrayList<>();
  private final Size size;

  private Coverage(Size size) {
    this.size = size;
  }

  static List<Reached> of(ChaosRun run, Size size) throws IOException {
    Coverage coverage = new Coverage(size);
    coverage.add("jobs acknowledged", run.jobs(), size.jobs());
    coverage.addWhole("batches of jobs enqueued again for want of an answer", run.repeated(), 1);
    coverage.addNemesis(run.nemesis());
    coverage.addCables(run);
    coverage.addFigures(run);
    coverage.addWhole("jobs seen parked", run.watch().parked(), size.growing(20, 500));
    coverage.addWhole(
        "jobs seen standing on their target", run.operator().blocksSeen(), size.growing(5, 3_000));
    coverage.addWhole(
        "of them resumed, retried or resolved", run.operator().acts(), size.growing(5, 3_000));
    coverage.add("jobs made to fail", run.doomed(), 1);
    coverage.all.add(
        Reached.atMost(
            size.excusable(run.doomed()),
            "of their last attempts put down to a mishap",
            run.excused()));
    coverage.addWhole("slots decided about", run.slots().size(), size.growing(100, 100));
    coverage.addWhole(
        "slots fired",
        run.slots().stream().filter(slot -> slot.job().isPresent()).count(),
        size.growing(20, 200));
    coverage.addWhole("looks at the invariants", run.watch().checks(), size.growing(5, 2_000));
    return coverage.all;
  }

  private void add(String what, long times, long floor) {
    all.add(Reached.atLeast(floor, what, times));
  }

  /** Only of a run that deals all blows. */
  private void addWhole(String what, long times, long floor) {
    add(what, times, size.isPartial() ? 0 : floor);
  }

  private void addNemesis(Nemesis nemesis) {
    for (Blow blow : Blow.values()) {
      add(blow.words(), nemesis.dealt(blow), size.floor(blow));
    }
  }

  private void addCables(ChaosRun run) {
    int toServers =
        run.cables().toServers().stream().mapToInt(cable -> cable.connectionsCut()).sum();
    addWhole("connections of workers to servers cut", toServers, 1);
    addWhole(
        "connections of workers to the database cut",
        run.cables().workersToDatabase().connectionsCut(),
        1);
    addWhole(
        "connections of servers to the database cut",
        run.cables().serversToDatabase().connectionsCut(),
        1);
  }

  private void addFigures(ChaosRun run) throws IOException {
    Figures figures = run.figures();
    for (Figure figure : Figure.values()) {
      addWhole(figure.words(), figures.get(figure), floor(figure, run.nemesis()));
    }
    addWhole(
        "stale writes refused in all",
        figures.get(Figure.REFUSED_BY_LEDGER) + figures.get(Figure.REFUSED_BY_HOLDFAST),
        size.growing(2, 1_000));
    all.add(
        Reached.atMost(
            LONGEST_RECOVERY.toMillis(),
            "ms at most from a death to the next start of a plain job that many serve",
            figures.longestRecovery().toMillis()));
    all.add(
        Reached.atMost(
            LONGEST_OTHER_RECOVERY.toMillis(),
            "ms at most from a death to the next start of any other job",
            figures.longestOtherRecovery().toMillis()));
  }

  private long floor(Figure figure, Nemesis nemesis) {
    return switch (figure) {
      case ATTEMPTS, BY_DATABASE_WORKERS, BY_HTTP_WORKERS -> size.growing(1_000, 20);
      case WITH_SITE_AND_NODE,
          ON_TARGET,
          BY_COMMANDS,
          BY_PULL_WORKERS,
          BY_AGENTS_OF_THE_DIALECT,
          RETRIES ->
          size.growing(100, 200);
      case OUTLIVED -> size.growing(50, 200);
      case CUT_SHORT -> size.growing(10, 500);
      case FEW_CUT_SHORT -> size.growing(1, 10_000);
      case DRAINED -> nemesis.dealt(Blow.TERMINATE) + nemesis.dealt(Blow.TERMINATE_SERVER);
      case REFUSED_BY_LEDGER, REFUSED_BY_HOLDFAST -> size.growing(1, 5_000);
      case COMMANDS_CUT_SHORT, GIVEN_BACK, WENT_ON -> 1;
      case PULL_REFUSED, DIALECT_AGENTS_REFUSED -> size.isLong() ? 1 : 0;
    };
  }
}
