package dev.holdfast.planted;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What noticed which, written anew after each. */
final class Table {

  private static final Path FILE = Path.of("target", "planted.md");
  private static final int MOST_SHOWN = 110;

  private final List<String> rows = new ArrayList<>();
  private final List<String> wrong = new ArrayList<>();

  /** What nobody noticed though somebody must, and what cannot be told. */
  List<String> wrong() {
    return wrong;
  }

  boolean isEmpty() {
    return rows.isEmpty();
  }

  void add(String name, boolean isHarmless, Seen seen, long nanos) throws IOException {
    switch (seen) {
      case Seen.Effect(String by, String how) -> row("`" + name + "`", by, nanos, how);
      case Seen.Absence(String how) -> {
        row("`" + name + "`", isHarmless ? "no effect: a second guard" : "NO EFFECT", nanos, how);
        complain(isHarmless, name, how);
      }
      case Seen.Nothing() -> {
        row("`" + name + "`", isHarmless ? "nobody: a second guard" : "NOBODY", nanos, "");
        complain(isHarmless, name, "nobody notices");
      }
      case Seen.Broken(String why) -> {
        row("`" + name + "`", "BROKEN", nanos, why);
        complain(false, name, why);
      }
    }
  }

  void addControl(String rig, Seen seen, long nanos) throws IOException {
    String name = "control of " + rig;
    switch (seen) {
      case Seen.Nothing() -> row(name, "nobody, as it must be", nanos, "");
      case Seen.Effect effect -> broken(name, nanos, effect.how());
      case Seen.Absence(String how) -> broken(name, nanos, how);
      case Seen.Broken(String why) -> broken(name, nanos, why);
    }
  }

  private void broken(String name, long nanos, String why) throws IOException {
    row(name, "BROKEN", nanos, why);
    complain(false, name, why);
  }

  private void complain(boolean isHarmless, String name, String why) {
    if (!isHarmless) {
      wrong.add(name + ": " + why);
    }
  }

  private void row(String name, String by, long nanos, String how) throws IOException {
    long seconds = TimeUnit.NANOSECONDS.toSeconds(nanos);
    System.out.printf("Planted: %s, %s, %d s, %s%n", name, by, seconds, how);
    rows.add("| %s | %s | %d s | %s |".formatted(name, by, seconds, brief(how)));
    List<String> table =
        new ArrayList<>(List.of("| bug | caught by | after | because |", "|---|---|---|---|"));
    table.addAll(rows);
    Files.write(FILE, table);
  }

  private static String brief(String how) {
    String line = how.strip().lines().findFirst().orElse("").replace("|", "/");
    String plain = line.replaceAll("\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}", "…");
    return plain.length() <= MOST_SHOWN ? plain : plain.substring(0, MOST_SHOWN) + "…";
  }
}
