package dev.holdfast.chaos;

import dev.holdfast.chaos.nemesis.Blow;
import dev.holdfast.chaos.nemesis.Nemesis;
import dev.holdfast.chaos.verdict.Figures;
import dev.holdfast.chaos.verdict.Figures.Figure;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** What a run has reached, so that none can pass by doing nothing. */
final class Coverage {

  private final List<Reached> all = new ArrayList<>();

  private Coverage() {}

  static List<Reached> of(ChaosRun run) throws IOException {
    Coverage coverage = new Coverage();
    coverage.add("jobs acknowledged", run.jobs(), 1);
    coverage.addNemesis(run.nemesis());
    coverage.addCables(run);
    coverage.addFigures(run);
    coverage.add("jobs seen parked", run.watch().parked(), 20);
    coverage.add("jobs seen standing on their target", run.operator().blocksSeen(), 5);
    coverage.add("of them resumed, retried or resolved", run.operator().acts(), 5);
    coverage.add("slots decided about", run.slots().size(), 100);
    coverage.add(
        "slots fired", run.slots().stream().filter(slot -> slot.job().isPresent()).count(), 20);
    coverage.add("looks at the invariants", run.watch().checks(), 5);
    return coverage.all;
  }

  private void add(String what, long times, long floor) {
    all.add(new Reached(what, times, floor));
  }

  private void addNemesis(Nemesis nemesis) {
    add("workers and agents killed", nemesis.dealt(Blow.KILL), 30);
    add("frozen past the lease", nemesis.dealt(Blow.FREEZE), 3);
    add("terminated", nemesis.dealt(Blow.TERMINATE), 3);
    add("servers killed", nemesis.dealt(Blow.KILL_SERVER), 1);
    add("servers terminated", nemesis.dealt(Blow.TERMINATE_SERVER), 1);
    add("crashes of the database", nemesis.dealt(Blow.CRASH_DATABASE), 0);
    add("claims over HTTP whose answer was lost", nemesis.dealt(Blow.LOSE_CLAIM), 1);
    add("pulls whose answer was lost", nemesis.dealt(Blow.LOSE_PULL), 1);
    add("claims on the database whose answer was lost", nemesis.dealt(Blow.LOSE_DATABASE_CLAIM), 1);
    add("commits whose answer was lost", nemesis.dealt(Blow.LOSE_COMMIT), 1);
  }

  private void addCables(ChaosRun run) {
    int toServers =
        run.cables().toServers().stream().mapToInt(cable -> cable.connectionsCut()).sum();
    add("connections of workers to servers cut", toServers, 1);
    add("of workers to the database", run.cables().workersToDatabase().connectionsCut(), 1);
    add("of servers to the database", run.cables().serversToDatabase().connectionsCut(), 1);
  }

  private void addFigures(ChaosRun run) throws IOException {
    Figures figures = run.figures();
    for (Figure figure : Figure.values()) {
      add(figure.words(), figures.get(figure), floor(figure, run.nemesis()));
    }
    add("ms from a death to the next start, at most", figures.longestRecovery().toMillis(), 0);
  }

  private static long floor(Figure figure, Nemesis nemesis) {
    return switch (figure) {
      case ATTEMPTS, BY_DATABASE_WORKERS, BY_HTTP_WORKERS -> 1_000;
      case BY_COMMANDS, BY_PULL_WORKERS, RETRIES -> 100;
      case OUTLIVED -> 50;
      case CUT_SHORT -> 10;
      case DRAINED -> nemesis.dealt(Blow.TERMINATE) + nemesis.dealt(Blow.TERMINATE_SERVER);
      case COMMANDS_CUT_SHORT, GIVEN_BACK, WENT_ON, REFUSED_BY_LEDGER, REFUSED_BY_HOLDFAST -> 1;
      case PULL_REFUSED -> 0;
    };
  }
}
