package dev.holdfast.planted;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** The engine with one of its sources patched, and a test that is run against it. */
final class PatchedEngine {

  private static final Path SOURCES = Path.of("..", "holdfast-core", "src", "main", "java");
  private static final Path ROOM = Path.of("target", "planted");

  private PatchedEngine() {}

  static String sourceOf(PlantedPatch patch) throws IOException {
    return Files.readString(SOURCES.resolve(patch.source()));
  }

  /** How the test failed; empty when it noticed nothing. */
  static Optional<String> firstFailure(PlantedPatch patch)
      throws IOException, InterruptedException {
    Path classes = compiled(patch);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx512m", "--enable-native-access=ALL-UNNAMED"));
    command.addAll(patch.properties());
    command.addAll(List.of("-cp", classes + ":" + classpath() + ":" + launcher()));
    command.addAll(List.of(PatchedRun.class.getName(), patch.rig()));
    Path log = ROOM.resolve(patch + ".log");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    if (!process.waitFor(10, TimeUnit.MINUTES)) {
      process.destroyForcibly().waitFor();
      return Optional.of("it never ends");
    }
    return switch (process.exitValue()) {
      case PatchedRun.ALL_WELL -> Optional.empty();
      case PatchedRun.NOTICED -> Optional.of(Files.readAllLines(log).getLast());
      default -> throw new IOException("could not run " + patch + ", see " + log);
    };
  }

  private static Path compiled(PlantedPatch patch) throws IOException {
    Path patched = ROOM.resolve(patch + "-source").resolve(patch.source());
    Path classes = ROOM.resolve(patch + "-classes");
    Files.createDirectories(patched.getParent());
    Files.createDirectories(classes);
    Files.writeString(patched, patch.apply(sourceOf(patch)));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    int failed =
        compiler.run(
            null,
            null,
            null,
            "-proc:none",
            "-nowarn",
            "-d",
            classes.toString(),
            "-cp",
            classpath(),
            patched.toString());
    if (failed != 0) {
      throw new IOException("cannot compile " + patched);
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
