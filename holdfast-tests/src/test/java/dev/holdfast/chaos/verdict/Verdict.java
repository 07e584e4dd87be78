package dev.holdfast.chaos.verdict;

import dev.holdfast.chaos.ledger.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What became of the promises, by the ledger and by what Holdfast said it has stored, and by
 * nothing else. Pure: it asks neither Holdfast nor the database.
 */
public final class Verdict {

  private Verdict() {}

  /**
   * What Holdfast said, and when it was asked for slots.
   *
   * @param jobs that it has stored
   * @param lost attempts that it says were lost, at least those of doomed jobs
   * @param slots that it has decided about
   * @param hours empty where nobody wrote them down
   */
  public record Said(
      List<Acknowledged> jobs,
      List<LostAttempt> lost,
      List<FiredSlot> slots,
      Optional<Hours> hours) {}

  /**
   * All violations, oldest first for each rule.
   *
   * @param ledger in its order; as a stream, because a long run's does not fit into memory
   */
  public static List<Violation> of(Stream<Entry> ledger, Said said) {
    Exclusion exclusion = new Exclusion();
    Fencing fencing = new Fencing();
    Finality finality = new Finality();
    TargetOrder targetOrder = new TargetOrder(said.jobs);
    Standing standing = new Standing();
    SlotsOnce slotsOnce = new SlotsOnce(said.slots, said.hours);
    Fates fates = new Fates(said.jobs, said.lost);
    ledger.forEachOrdered(entry -> {
      exclusion.see(entry);
      fencing.see(entry);
      finality.see(entry);
      targetOrder.see(entry);
      standing.see(entry);
      slotsOnce.see(entry);
      fates.see(entry);
    });
    List<Violation> all = new ArrayList<>();
    all.addAll(exclusion.violations());
    all.addAll(fencing.violations());
    all.addAll(finality.violations());
    all.addAll(targetOrder.violations());
    all.addAll(standing.violations());
    all.addAll(slotsOnce.violations());
    all.addAll(fates.violations());
    return all;
  }

  /**
   * How many jobs that were made to fail count as ended although nobody saw their last attempt
   * fail.
   */
  public static long excused(Stream<Entry> ledger, Said said) {
    Fates fates = new Fates(said.jobs, said.lost);
    ledger.forEachOrdered(fates::see);
    return fates.excused();
  }
}
