package dev.holdfast.fault;

import dev.holdfast.fault.Operation.Trait;
import dev.holdfast.fault.Script.Once;
import dev.holdfast.fault.Trial.Result;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Does operations over and over, each time with another fault. For one thread. */
final class Rig implements AutoCloseable {

  private final Ground ground;
  private final FaultyPool pool;
  private final Tally tally;
  private final Troubles troubles;

  Rig(Tally tally, Troubles troubles) throws SQLException {
    this.ground = new Ground();
    this.pool = FaultyPool.forThisThread(Ground.url());
    this.tally = tally;
    this.troubles = troubles;
  }

  /** What is wrong with an operation. */
  List<String> run(Operation operation) throws Exception {
    Course course = Course.of(operation, ground, pool);
    tally.count(operation, course);
    List<String> complaints = new ArrayList<>();
    if (course.steps() != operation.steps()) {
      complaints.add(
          "%s: %d steps instead of %d"
              .formatted(operation.name(), course.steps(), operation.steps()));
    }
    for (Once trouble : troubles.at(course.points(), operation.is(Trait.SPARINGLY))) {
      Point point = course.points().get(trouble.number());
      Result result = new Trial(ground, pool, operation, course, trouble).run();
      tally.count(point, trouble, result);
      for (String complaint : result.complaints()) {
        complaints.add(
            "%s: %s %s %d (%s): %s"
                .formatted(
                    operation.name(),
                    trouble.fault(),
                    trouble.moment(),
                    trouble.number(),
                    point,
                    complaint));
      }
    }
    return complaints;
  }

  long deadlocks() {
    return ground.deadlocks();
  }

  @Override
  public void close() throws SQLException {
    pool.close();
    ground.close();
  }
}
