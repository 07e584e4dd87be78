package dev.holdfast.chaos.verdict;

import dev.holdfast.chaos.ledger.Entry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What became of the promises, by the ledger and by what Holdfast said it has stored, and by
 * nothing else. Pure: it asks neither Holdfast nor the database.
 */
public final class Verdict {

  private Verdict() {}

  /**
   * What Holdfast said.
   *
   * @param jobs that it has stored
   * @param slots that it has decided about
   * @param every how far slots are apart
   */
  public record Said(List<Acknowledged> jobs, List<FiredSlot> slots, Duration every) {}

  /**
   * All violations, oldest first for each rule.
   *
   * @param ledger in its order; as a stream, because a long run's does not fit into memory
   * @param killGrace how long after a worker fell silent its resources must be left alone
   */
  public static List<Violation> of(Stream<Entry> ledger, Said said, Duration killGrace) {
    Exclusion exclusion = new Exclusion(killGrace);
    Fencing fencing = new Fencing();
    TargetOrder targetOrder = new TargetOrder(said.jobs);
    Standing standing = new Standing();
    SlotsOnce slotsOnce = new SlotsOnce(said.slots, said.every);
    Fates fates = new Fates(said.jobs);
    ledger.forEachOrdered(entry -> {
      exclusion.see(entry);
      fencing.see(entry);
      targetOrder.see(entry);
      standing.see(entry);
      slotsOnce.see(entry);
      fates.see(entry);
    });
    List<Violation> all = new ArrayList<>();
    all.addAll(exclusion.violations());
    all.addAll(fencing.violations());
    all.addAll(targetOrder.violations());
    all.addAll(standing.violations());
    all.addAll(slotsOnce.violations());
    all.addAll(fates.violations());
    return all;
  }
}
