package dev.holdfast.fault;

import dev.holdfast.fault.Point.Kind;
import dev.holdfast.fault.Script.Once;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Chooses what is to go wrong at which points. */
final class Troubles {

  private static final List<Fault> ALL = List.of(Fault.values());
  private static final List<Fault> SAID = ALL.stream().filter(Fault::isSaidByTheServer).toList();

  private final boolean everything;
  private int turn;

  /**
   * A choice.
   *
   * @param everything every fault on both sides of every point; otherwise they take turns, and only
   *     where something is committed connections are lost on both sides
   */
  Troubles(boolean everything) {
    this.everything = everything;
  }

  List<Once> at(List<Point> points) {
    List<Once> troubles = new ArrayList<>();
    for (int number = 0; number < points.size(); number++) {
      Point point = points.get(number);
      for (Moment moment : Moment.values()) {
        for (Fault fault : faults(point, moment)) {
          if (point.allows(moment, fault)) {
            troubles.add(new Once(number, moment, fault));
          }
        }
      }
    }
    return troubles;
  }

  private Set<Fault> faults(Point point, Moment moment) {
    if (everything || point.kind() == Kind.BORROW) {
      return EnumSet.allOf(Fault.class);
    }
    turn += moment == Moment.BEFORE ? 1 : 2; // or each would stay on one side
    return point.commits()
        ? EnumSet.of(Fault.CONNECTION_LOST, SAID.get(turn % SAID.size()))
        : EnumSet.of(ALL.get(turn % ALL.size()));
  }
}
