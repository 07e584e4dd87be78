package dev.holdfast.fault;

import dev.holdfast.fault.Script.Once;
import dev.holdfast.fault.Trial.Result;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Does operations over and over, each time with another fault. For one thread. */
final class Rig implements AutoCloseable {

  private final Ground ground;
  private final FaultyPool pool;
  private final Tally tally;
  private final boolean everything;
  private int turn;

  /**
   * A rig on a tenant of its own.
   *
   * @param everything every fault on both sides of every point; otherwise the server's errors take
   *     turns, and only connections are lost everywhere
   */
  Rig(Tally tally, boolean everything) throws SQLException {
    this.ground = new Ground();
    this.pool = FaultyPool.forThisThread(Ground.url());
    this.tally = tally;
    this.everything = everything;
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
    for (Once trouble : troubles(course)) {
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

  private List<Once> troubles(Course course) {
    List<Once> troubles = new ArrayList<>();
    for (int number = 0; number < course.points().size(); number++) {
      for (Moment moment : Moment.values()) {
        for (Fault fault : faults()) {
          if (course.points().get(number).allows(moment, fault)) {
            troubles.add(new Once(number, moment, fault));
          }
        }
      }
    }
    return troubles;
  }

  private Set<Fault> faults() {
    List<Fault> said =
        EnumSet.allOf(Fault.class).stream().filter(Fault::isSaidByTheServer).toList();
    return everything
        ? EnumSet.allOf(Fault.class)
        : EnumSet.of(Fault.CONNECTION_LOST, said.get(turn++ % said.size()));
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
