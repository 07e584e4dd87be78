package dev.holdfast.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What became of the promises, by the ledger and the list of acknowledged jobs alone. Pure: it asks
 * neither Holdfast nor the database.
 */
final class Verdict {

  private Verdict() {}

  /**
   * All violations, oldest first for each rule.
   *
   * @param ledger in its order; as a stream, because a long run's does not fit into memory
   * @param killGrace how long after a worker fell silent its resources must be left alone
   */
  static List<Violation> of(
      Stream<Entry> ledger, List<Acknowledged> acknowledged, Duration killGrace) {
    Exclusion exclusion = new Exclusion(killGrace);
    Fencing fencing = new Fencing();
    TargetOrder targetOrder = new TargetOrder(acknowledged);
    Fates fates = new Fates(acknowledged);
    ledger.forEachOrdered(entry -> {
      exclusion.see(entry);
      fencing.see(entry);
      targetOrder.see(entry);
      fates.see(entry);
    });
    List<Violation> all = new ArrayList<>();
    all.addAll(exclusion.violations());
    all.addAll(fencing.violations());
    all.addAll(targetOrder.violations());
    all.addAll(fates.violations());
    return all;
  }
}
