package dev.holdfast.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What became of the promises, by the ledger and the list of acknowledged jobs alone. Pure: it asks
 * neither Holdfast nor the database.
 */
final class Verdict {

  private Verdict() {}

  /**
   * All violations, oldest first for each rule.
   *
   * @param killGrace how long after a worker fell silent its resources must be left alone
   */
  static List<Violation> of(
      List<Entry> ledger, List<Acknowledged> acknowledged, Duration killGrace) {
    Exclusion exclusion = new Exclusion(killGrace);
    Fencing fencing = new Fencing();
    TargetOrder targetOrder = new TargetOrder(acknowledged);
    Fates fates = new Fates(acknowledged);
    for (Entry entry : ledger) {
      exclusion.see(entry);
      fencing.see(entry);
      targetOrder.see(entry);
      fates.see(entry);
    }
    List<Violation> all = new ArrayList<>();
    all.addAll(exclusion.violations());
    all.addAll(fencing.violations());
    all.addAll(targetOrder.violations());
    all.addAll(fates.violations());
    return all;
  }
}
