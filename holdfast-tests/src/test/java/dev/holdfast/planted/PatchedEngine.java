package dev.holdfast.planted;

import dev.holdfast.planted.Trial.Failure;
import dev.holdfast.planted.Trial.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** The engine with some of its sources patched, and a test that is run against it. */
final class PatchedEngine {

  private static final Path ROOM = Path.of("target", "planted");
  private static final String SETTINGS = "holdfast.test.";
  private static final int SECONDS_TO_TIDY_UP = 30;

  private PatchedEngine() {}

  /** With what the patch takes away taken away. */
  static Run patched(PlantedPatch patch) throws IOException, InterruptedException {
    List<Path> sources = new ArrayList<>();
    for (Cut cut : patch.cuts()) {
      sources.add(source(patch.name(), cut, cut.made()));
    }
    return run(patch.name(), sources, patch.trial());
  }

  /** The same, but that nothing is taken away: then nothing may fail. */
  static Run unpatched(PlantedPatch patch) throws IOException, InterruptedException {
    List<Path> sources = new ArrayList<>();
    for (Cut cut : patch.cuts()) {
      sources.add(source(patch.name() + "-control", cut, cut.text()));
    }
    return run(patch.name() + "-control", sources, patch.trial());
  }

  private static Path source(String name, Cut cut, String text) throws IOException {
    Path file = ROOM.resolve(name + "-source").resolve(cut.path());
    Files.createDirectories(file.getParent());
    return Files.writeString(file, text);
  }

  private static Run run(String name, List<Path> sources, Trial trial)
      throws IOException, InterruptedException {
    Path classes = compiled(name, sources);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx512m", "--enable-native-access=ALL-UNNAMED"));
    System.getProperties().stringPropertyNames().stream()
        .filter(property -> property.startsWith(SETTINGS))
        .forEach(property -> command.add("-D" + property + "=" + System.getProperty(property)));
    command.addAll(trial.properties());
    command.addAll(List.of("-cp", classes + ":" + classpath() + ":" + launcher()));
    command.addAll(List.of(PatchedRun.class.getName(), trial.test()));
    Path log = ROOM.resolve(name + ".log");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    if (!process.waitFor(trial.limit().toSeconds(), TimeUnit.SECONDS)) {
      end(process);
      return new Run(false, List.of());
    }
    return switch (process.exitValue()) {
      case PatchedRun.ALL_WELL -> new Run(true, List.of());
      case PatchedRun.NOTICED -> new Run(true, failures(log));
      default -> throw new IOException("could not run it, see " + log);
    };
  }

  // It has a database and perhaps workers, whom it ends if it is given the time.
  private static void end(Process process) throws InterruptedException {
    List<ProcessHandle> started = process.descendants().toList();
    process.destroy();
    if (!process.waitFor(SECONDS_TO_TIDY_UP, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
    }
    started.forEach(ProcessHandle::destroyForcibly);
  }

  private static List<Failure> failures(Path log) throws IOException {
    return Files.readAllLines(log).stream()
        .filter(line -> line.startsWith(PatchedRun.FAILED))
        .map(line -> line.substring(PatchedRun.FAILED.length()))
        .map(line -> line.split(Pattern.quote(PatchedRun.SEPARATOR), 3))
        .map(parts -> new Failure(parts[0], parts[1], parts[2]))
        .toList();
  }

  private static Path compiled(String name, List<Path> sources) throws IOException {
    Path classes = ROOM.resolve(name + "-classes");
    Files.createDirectories(classes);
    List<String> arguments =
        new ArrayList<>(List.of("-proc:none", "-nowarn", "-d", classes.toString()));
    arguments.addAll(List.of("-cp", classpath()));
    sources.forEach(source -> arguments.add(source.toString()));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler.run(null, null, null, arguments.toArray(String[]::new)) != 0) {
      throw new IOException("cannot compile " + sources);
    }
    return classes.toAbsolutePath();
  }

  private static String classpath() {
    return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
  }

  // What runs tests is brought by whoever runs us, and not among our own classes.
  private static String launcher() {
    List<String> jars = new ArrayList<>();
    for (String name :
        List.of("org.junit.platform.launcher.Launcher", "org.junit.platform.engine.TestEngine")) {
      try {
        jars.add(locationOf(Class.forName(name)));
      } catch (ClassNotFoundException e) {
        throw new LinkageError(name, e);
      }
    }
    jars.add(locationOf(Test.class));
    return String.join(":", jars);
  }

  private static String locationOf(Class<?> some) {
    return some.getProtectionDomain().getCodeSource().getLocation().getPath();
  }
}
