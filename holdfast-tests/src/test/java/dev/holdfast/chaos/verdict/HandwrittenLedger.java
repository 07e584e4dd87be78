package dev.holdfast.chaos.verdict;

import dev.holdfast.chaos.ledger.Entry;
import dev.holdfast.chaos.verdict.Violation.Rule;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Ledgers written by hand: what is wrong with them is found, and nothing else. */
final class HandwrittenLedger {

  static final Acknowledged A = job("a", 1, Optional.empty());
  static final Acknowledged B = job("b", 2, Optional.empty());
  static final Acknowledged DOOMED = new Acknowledged("d", 3, 2, true, Optional.empty());

  private HandwrittenLedger() {}

  static Acknowledged job(String id, int number, Optional<String> target) {
    return new Acknowledged(id, number, 3, false, target);
  }

  static List<Rule> rules(List<Acknowledged> acknowledged, String ledger) {
    return rules(new Verdict.Said(acknowledged, List.of(), List.of(), Optional.empty()), ledger);
  }

  static List<Rule> rules(Verdict.Said said, String ledger) {
    Stream<Entry> entries = ledger.lines().filter(line -> !line.isBlank()).map(Entry::parse);
    return Verdict.of(entries, said).stream().map(Violation::rule).toList();
  }
}
