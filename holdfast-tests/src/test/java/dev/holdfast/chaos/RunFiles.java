package dev.holdfast.chaos;

import dev.holdfast.chaos.ledger.Entry;
import dev.holdfast.chaos.load.Timetable;
import dev.holdfast.chaos.load.Workload;
import dev.holdfast.chaos.verdict.Acknowledged;
import dev.holdfast.chaos.verdict.Figures;
import dev.holdfast.chaos.verdict.FiredSlot;
import dev.holdfast.chaos.verdict.Hours;
import dev.holdfast.chaos.verdict.LostAttempt;
import dev.holdfast.chaos.verdict.Verdict;
import dev.holdfast.chaos.verdict.Violation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * What a run leaves in its directory. It is judged by these files alone, so whoever has them can
 * judge again.
 */
record RunFiles(Path directory) {

  Path ledger() {
    return directory.resolve("ledger");
  }

  Path enqueued() {
    return directory.resolve("enqueued");
  }

  /** Whether the ledger has refused a stale write by now. */
  boolean hasRefused() throws IOException {
    try (Stream<String> lines = Files.lines(ledger())) {
      return lines.anyMatch(line -> line.endsWith(" refused"));
    }
  }

  void write(List<FiredSlot> slots, Hours hours, List<LostAttempt> lost) throws IOException {
    Files.write(directory.resolve("slots"), slots.stream().map(FiredSlot::line).toList());
    Files.write(directory.resolve("hours"), List.of(hours.line()));
    Files.write(directory.resolve("lost"), lost.stream().map(LostAttempt::line).toList());
  }

  List<FiredSlot> slots() throws IOException {
    return read("slots", FiredSlot::parse);
  }

  private List<Acknowledged> jobs() throws IOException {
    List<Acknowledged> all = new ArrayList<>(read("enqueued", Acknowledged::parse));
    all.addAll(Timetable.jobs(slots()));
    return all;
  }

  // A run that was cut off, or is older than one of the lists, has left less.
  private <T> List<T> read(String name, Function<String, T> parse) throws IOException {
    Path file = directory.resolve(name);
    return Files.exists(file) ? Files.readAllLines(file).stream().map(parse).toList() : List.of();
  }

  private Verdict.Said said() throws IOException {
    return new Verdict.Said(
        jobs(),
        read("lost", LostAttempt::parse),
        slots(),
        read("hours", Hours::parse).stream().findFirst());
  }

  List<Violation> violations() throws IOException {
    Verdict.Said said = said();
    try (Stream<String> lines = Files.lines(ledger())) {
      return Verdict.of(lines.map(Entry::parse), said);
    }
  }

  /** Jobs that fail in every attempt. */
  long doomed() throws IOException {
    return jobs().stream().filter(Acknowledged::doomed).count();
  }

  /** Those of them whose last attempt nobody saw fail. */
  long excused() throws IOException {
    Verdict.Said said = said();
    try (Stream<String> lines = Files.lines(ledger())) {
      return Verdict.excused(lines.map(Entry::parse), said);
    }
  }

  Figures figures() throws IOException {
    List<Acknowledged> jobs = jobs();
    try (Stream<String> lines = Files.lines(ledger())) {
      return Figures.of(lines.map(Entry::parse), jobs, Workload.LEASE);
    }
  }
}
