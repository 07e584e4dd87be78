package dev.holdfast.examples.dailybrief;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The application in a process of its own, which tests can kill. It ends with whoever started it.
 */
final class ChildBrief implements AutoCloseable {

  private final Process process;
  private final BufferedReader output;

  private ChildBrief(Process process) {
    this.process = process;
    this.output = process.inputReader(StandardCharsets.UTF_8);
  }

  static ChildBrief start(List<String> arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC", // it lives for seconds: start fast rather than run fast
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                ChildBrief.class.getName()));
    command.addAll(arguments);
    return new ChildBrief(new ProcessBuilder(command).redirectErrorStream(true).start());
  }

  /** Waits until its log says that this schedule's run began. */
  void awaitStartOf(String schedule) throws IOException {
    awaitAll(" started", schedule);
  }

  /** Waits until its log says that a run of each of these went well. */
  void awaitEndOf(String... schedules) throws IOException {
    awaitAll(" ended", schedules);
  }

  private void awaitAll(String what, String... schedules) throws IOException {
    Set<String> awaited = new HashSet<>(List.of(schedules));
    StringBuilder all = new StringBuilder();
    while (!awaited.isEmpty()) {
      String line = output.readLine();
      if (line == null) {
        throw new AssertionError("ended before " + awaited + what + ":\n" + all);
      }
      awaited.removeIf(name -> line.contains("Run of " + name) && line.endsWith(what));
      all.append(line).append('\n');
    }
  }

  void terminate() {
    process.toHandle().destroy(); // unlike its own destroy, this leaves its output readable
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  void awaitEnd() throws InterruptedException {
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      throw new AssertionError("does not end");
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  public static void main(String[] arguments) {
    Thread.ofPlatform().daemon().start(ChildBrief::endWithParent);
    DailyBrief.main(arguments);
  }

  private static void endWithParent() {
    try {
      while (System.in.read() >= 0) {
        // Its end is that of whoever started us.
      }
    } catch (IOException e) {
      // So is this.
    }
    Runtime.getRuntime().halt(1);
  }
}
