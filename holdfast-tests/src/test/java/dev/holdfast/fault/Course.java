package dev.holdfast.fault;

import dev.holdfast.fault.Operation.Action;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * How an operation goes when nothing goes wrong.
 *
 * @param states what others could see on the way, from before to after
 */
record Course(
    Action action,
    List<Point> points,
    Picture before,
    Set<Picture> states,
    Picture after,
    String answer) {

  static Course of(Operation operation, Ground ground, FaultyPool pool) throws Exception {
    ground.empty();
    Action action = operation.setup().on(ground);
    ground.save();
    Picture before = ground.picture();
    List<Picture> seen = new ArrayList<>(List.of(before));
    try (Engine engine = ground.engine(pool.dataSource()).keepingAConnection()) {
      pool.onCommit(() -> seen.add(ground.picture()));
      pool.play(Script.NOTHING);
      String answer = action.run(engine);
      pool.onCommit(() -> {});
      return new Course(
          action, pool.passed(), before, new LinkedHashSet<>(seen), ground.picture(), answer);
    }
  }

  /** The committed states that it went through, the one before not counted. */
  int steps() {
    return states.size() - 1;
  }
}
