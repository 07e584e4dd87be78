package dev.holdfast.fault;

import dev.holdfast.fault.Script.Once;
import dev.holdfast.fault.Trial.Result;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What the rig did. Thread-safe: its own lock guards everything. */
final class Tally {

  private final Map<String, Integer> pointsOf = new LinkedHashMap<>();
  private final Map<String, Integer> faults = new TreeMap<>();
  private final Map<String, Integer> stored = new TreeMap<>();
  private final Map<String, Integer> seen = new TreeMap<>();
  private final Reach reach = new Reach();
  private int cells;

  synchronized void count(Operation operation, Course course) {
    pointsOf.put(operation.name(), course.points().size());
    for (Point point : course.points()) {
      for (Moment moment : Moment.values()) {
        cells += (int) Stream.of(Fault.values()).filter(each -> point.allows(moment, each)).count();
      }
    }
    reach.note(course.points());
  }

  synchronized void count(Point point, Once trouble, Result result) {
    faults.merge(name(point, trouble), 1, Integer::sum);
    stored.merge(result.stored(), 1, Integer::sum);
    seen.merge(result.seen(), 1, Integer::sum);
  }

  /** A fault by the name under which people know it. */
  static String name(Point point, Once trouble) {
    if (trouble.fault() == Fault.CONNECTION_LOST && point.kind() == Point.Kind.BORROW) {
      return "NO_CONNECTION";
    }
    if (trouble.fault().endsConnection() && point.commits()) {
      return trouble.moment() == Moment.AFTER
          ? "COMMIT_OUTCOME_UNKNOWN_DONE"
          : "COMMIT_OUTCOME_UNKNOWN_NOT_DONE";
    }
    return trouble.fault().name();
  }

  synchronized Map<String, Integer> pointsOf() {
    return Map.copyOf(pointsOf);
  }

  /** What there is to be tried: every fault on each side of every point where it can be. */
  synchronized int cells() {
    return cells;
  }

  /** What was tried. */
  synchronized int tried() {
    return sum(faults);
  }

  Reach reach() {
    return reach;
  }

  synchronized Map<String, Integer> faults() {
    return Map.copyOf(faults);
  }

  synchronized Map<String, Integer> stored() {
    return Map.copyOf(stored);
  }

  @Override
  public synchronized String toString() {
    return "%d operations with %d points, %d faults %s%n  stored: %s%n  seen: %s%n  points: %s"
        .formatted(pointsOf.size(), sum(pointsOf), sum(faults), faults, stored, seen, pointsOf);
  }

  private static int sum(Map<String, Integer> counts) {
    return counts.values().stream().mapToInt(Integer::intValue).sum();
  }
}
