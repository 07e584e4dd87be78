package dev.holdfast.chaos.fleet;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * What processes load when they start, prepared for them: it makes a start cost less than half, and
 * starts are what limits how many can be killed. Java 25 can do so; before, they start as they are.
 */
public final class Archive {

  private static final int FIRST_VERSION = 25;
  private static final int HEAP_MEGABYTES = 256;
  private static final int PATIENCE_MINUTES = 5;

  private Archive() {}

  /**
   * Rehearses the start of all kinds of processes.
   *
   * @param directory for what is kept
   * @param args of {@link Rehearsal}
   */
  public static Jvm.Launch make(Path directory, String... args)
      throws IOException, InterruptedException {
    if (Runtime.version().feature() < FIRST_VERSION) {
      return Jvm.Launch.WHOLE;
    }
    Files.createDirectories(directory);
    String classpath = ofJars(Jvm.Launch.WHOLE.classpath(), directory);
    Path cache = directory.resolve("classes.aot");
    Process process =
        new Jvm.Launch(classpath, List.of("-XX:AOTCacheOutput=" + cache, "-Xlog:disable"))
            .start(Rehearsal.class, HEAP_MEGABYTES, directory.resolve("rehearsal.log"), args)
            .process();
    if (!process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new IllegalStateException("The rehearsal failed, see " + directory);
    }
    return new Jvm.Launch(classpath, List.of("-XX:AOTCache=" + cache, "-Xlog:disable"));
  }

  // Classes that lie in directories cannot be archived.
  private static String ofJars(String classpath, Path directory) throws IOException {
    List<String> jars = new ArrayList<>();
    for (String each : classpath.split(File.pathSeparator, -1)) {
      Path path = Path.of(each);
      if (Files.isDirectory(path)) {
        jars.add(jar(path, directory.resolve(jars.size() + ".jar")).toString());
      } else if (Files.exists(path)) {
        jars.add(path.toAbsolutePath().toString());
      }
    }
    return jars.stream().collect(Collectors.joining(File.pathSeparator));
  }

  private static Path jar(Path from, Path to) throws IOException {
    try (OutputStream file = Files.newOutputStream(to);
        ZipOutputStream zip = new ZipOutputStream(file);
        Stream<Path> all = Files.walk(from)) {
      zip.setLevel(0);
      for (Path each : all.filter(Files::isRegularFile).toList()) {
        zip.putNextEntry(new ZipEntry(from.relativize(each).toString()));
        Files.copy(each, zip);
        zip.closeEntry();
      }
    }
    return to;
  }
}
