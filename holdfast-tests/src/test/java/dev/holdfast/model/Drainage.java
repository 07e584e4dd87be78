package dev.holdfast.model;

import dev.holdfast.job.JobAct;
import dev.holdfast.model.Command.Change;
import dev.holdfast.model.Command.Claim;
import dev.holdfast.model.Command.DeleteSchedule;
import dev.holdfast.model.Command.Do;
import dev.holdfast.model.Command.Drain;
import dev.holdfast.model.Command.End;
import dev.holdfast.model.Command.Finish;
import dev.holdfast.model.Command.How;
import dev.holdfast.model.Command.Reap;
import dev.holdfast.model.Command.SetQueue;
import dev.holdfast.model.Command.Tick;
import dev.holdfast.model.ModelJob.Phase;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Runs what is left, with a patient worker for everything. Every job ends, or one is stuck. */
record Drainage(Driver driver) {

  private static final int PATIENCE_SECONDS = 70;
  // What was ended by force keeps what it held for the rest of its lease, and the grace.
  private static final int MOST_FRUITLESS = 6;
  private static final int MOST_ROUNDS = 500;

  void run() throws SQLException {
    for (String schedule : List.copyOf(driver.slots().schedules().keySet())) {
      driver.run(new DeleteSchedule(schedule));
    }
    driver.run(new SetQueue("default", false, Optional.empty()));
    driver.run(new SetQueue("narrow", false, Optional.of(1)));
    int fruitless = 0;
    int rounds = 0;
    while (driver.model().jobs().stream().anyMatch(job -> !job.isFinished())) {
      for (ModelJob job : driver.model().jobs()) {
        boolean stands = driver.model().blocks().contains(block(job));
        if (job.phase == Phase.PAUSED || (job.phase == Phase.FAILED && stands)) {
          driver.run(new Do(JobAct.RESOLVE, false, job.number, Change.NONE));
        } else if (job.phase == Phase.PENDING) {
          driver.run(new Do(JobAct.REQUEUE, false, job.number, Change.NONE));
        }
      }
      finishAll();
      driver.run(new Tick(PATIENCE_SECONDS));
      driver.run(new Reap());
      driver.run(new Claim("drain", 4, Set.of(), Optional.empty(), false));
      boolean someRun = driver.model().jobs().stream().anyMatch(ModelJob::isLeased);
      fruitless = someRun ? 0 : fruitless + 1;
      if (fruitless == MOST_FRUITLESS || ++rounds == MOST_ROUNDS) {
        throw new Disagreement(new Drain(), List.of("stuck: " + unfinished()));
      }
    }
  }

  private static Model.Block block(ModelJob job) {
    return new Model.Block(job.targetResource().orElse(""), job.number);
  }

  private void finishAll() throws SQLException {
    List<End> ends = new ArrayList<>();
    for (ModelJob job : driver.model().jobs()) {
      if (job.isLeased()) {
        ends.add(new End(job.number, driver.workers().leaseCount(job.number) - 1, How.SUCCEEDED));
      }
    }
    if (!ends.isEmpty()) {
      driver.run(new Finish(ends));
    }
  }

  private List<String> unfinished() {
    return driver.model().jobs().stream()
        .filter(job -> !job.isFinished())
        .map(job -> job + " " + job.phase)
        .toList();
  }
}
