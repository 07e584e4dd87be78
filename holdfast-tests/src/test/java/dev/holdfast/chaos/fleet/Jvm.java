package dev.holdfast.chaos.fleet;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A process of ours that runs a main class. It ends by itself when we are gone, because it watches
 * its standard input; it says on its standard output, with one line, that it is ready.
 */
public final class Jvm {

  private final Process process;
  private final CompletableFuture<String> firstLine;

  private Jvm(Process process) {
    this.process = process;
    this.firstLine = new CompletableFuture<>();
    Thread.ofPlatform().daemon().start(this::readFirstLine);
  }

  /** How processes are started: with which classes, and with what else Java is told. */
  public record Launch(String classpath, List<String> options) {

    /** All that the tests have. */
    public static final Launch WHOLE =
        new Launch(
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            List.of("-Xshare:auto"));

    /** With what was compiled to where this class was, and nothing else. */
    public static Launch only(Class<?> one) {
      return new Launch(
          Path.of(one.getProtectionDomain().getCodeSource().getLocation().getPath()).toString(),
          List.of("-Xshare:auto"));
    }

    /** Its log, which is its standard error, goes to the file. */
    public Jvm start(Class<?> main, int heapMegabytes, Path log, String... args) {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.add("-Xmx" + heapMegabytes + "m");
      // They live for seconds: what takes long to pay off is left out.
      command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
      command.addAll(options);
      command.add("--enable-native-access=ALL-UNNAMED");
      command.addAll(List.of("-Dlogback.configurationFile=logback-chaos.xml", "-cp", classpath));
      command.add(main.getName());
      command.addAll(List.of(args));
      try {
        return new Jvm(new ProcessBuilder(command).redirectError(log.toFile()).start());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void readFirstLine() {
    try (BufferedReader out = process.inputReader()) {
      String line = out.readLine();
      if (line == null) {
        firstLine.completeExceptionally(new IOException("ended before it was ready"));
      } else {
        firstLine.complete(line);
      }
    } catch (IOException e) {
      firstLine.completeExceptionally(e);
    }
  }

  /** What it said when it was ready. */
  public CompletableFuture<String> firstLine() {
    return firstLine;
  }

  public Process process() {
    return process;
  }

  /** Lets it end by itself. */
  public void closeInput() {
    try {
      process.outputWriter().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
