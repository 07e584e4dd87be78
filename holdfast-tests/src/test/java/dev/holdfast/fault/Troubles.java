package dev.holdfast.fault;

import dev.holdfast.fault.Point.Kind;
import dev.holdfast.fault.Script.Once;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Chooses what is to go wrong at which points. */
final class Troubles {

  private static final List<Fault> SAID =
      Stream.of(Fault.values()).filter(Fault::isSaidByTheServer).toList();
  private static final List<Fault> ENDS =
      Stream.of(Fault.values()).filter(Fault::endsConnection).toList();
  private static final List<Fault> NONE =
      List.of(Fault.CONNECTION_LOST, Fault.TOO_MANY_CONNECTIONS);
  private static final List<Fault> ALL = Stream.concat(SAID.stream(), ENDS.stream()).toList();

  private final boolean everything;
  private int turn;

  /**
   * A choice.
   *
   * @param everything every fault on both sides of every point; otherwise they take turns inside of
   *     transactions, where after one statement is before the next, and around what commits a
   *     connection is lost on both sides and the server's errors take turns
   */
  Troubles(boolean everything) {
    this.everything = everything;
  }

  List<Once> at(List<Point> points) {
    return at(points, false);
  }

  /**
   * Those of an operation.
   *
   * @param sparingly one at each point, or two where something commits
   */
  List<Once> at(List<Point> points, boolean sparingly) {
    List<Once> troubles = new ArrayList<>();
    for (int number = 0; number < points.size(); number++) {
      Point point = points.get(number);
      for (Moment moment : Moment.values()) {
        for (Fault fault : sparingly && !everything ? few(point, moment) : faults(point, moment)) {
          if (point.allows(moment, fault)) {
            troubles.add(new Once(number, moment, fault));
          }
        }
      }
    }
    return troubles;
  }

  // Around what commits a connection is lost, and its user cannot know; elsewhere they take turns.
  private Set<Fault> few(Point point, Moment moment) {
    if (point.kind() != Kind.BORROW && point.commits()) {
      return EnumSet.of(ENDS.get(turn++ % ENDS.size()));
    }
    if (moment == Moment.AFTER) {
      return EnumSet.noneOf(Fault.class);
    }
    return EnumSet.of(
        point.kind() == Kind.BORROW
            ? NONE.get(turn++ % NONE.size())
            : ALL.get(turn++ % ALL.size()));
  }

  private Set<Fault> faults(Point point, Moment moment) {
    if (everything || point.kind() == Kind.BORROW) {
      return EnumSet.allOf(Fault.class);
    }
    if (point.commits()) {
      int next = turn++;
      return EnumSet.of(ENDS.get(next % ENDS.size()), SAID.get(next % SAID.size()));
    }
    // Each fault on one side, then each on the other.
    Moment its = turn / ALL.size() % 2 == 0 ? Moment.BEFORE : Moment.AFTER;
    return moment == its ? EnumSet.of(ALL.get(turn++ % ALL.size())) : EnumSet.noneOf(Fault.class);
  }
}
