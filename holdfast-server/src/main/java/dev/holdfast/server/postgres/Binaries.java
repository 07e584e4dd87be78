package dev.holdfast.server.postgres;

import dev.holdfast.error.HoldfastException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.tukaani.xz.XZInputStream;

/** PostgreSQL's programs, unpacked from the class path once for a data directory. */
final class Binaries {

  private static final Set<PosixFilePermission> PROGRAM =
      PosixFilePermissions.fromString("rwxr-xr-x");
  private static final List<String> PROGRAMS = List.of("initdb", "pg_ctl", "postgres");
  private static final int MOST_TRIES = 20;
  private static final int ANY_EXECUTE = 0b001_001_001;

  private Binaries() {}

  /**
   * Unpacks the programs, unless they are there.
   *
   * @return the directory that contains {@code bin}
   */
  static Path in(Path data) throws IOException {
    Path home = data.resolve("postgres");
    if (!Files.exists(home)) {
      Path draft = Directories.fresh(data.resolve("postgres.new"));
      unpack(draft);
      awaitRunnable(draft);
      Files.move(draft, home, StandardCopyOption.ATOMIC_MOVE); // complete, or not there
    }
    return home;
  }

  // A process that another thread starts while a program is being written inherits the open file
  // for a moment, during which the program is "busy" and cannot be run.
  private static void awaitRunnable(Path home) {
    Commands commands = new Commands(home);
    for (int tries = 1; ; tries++) {
      try {
        PROGRAMS.forEach(program -> commands.run(program, "--version"));
        return;
      } catch (HoldfastException e) {
        if (tries == MOST_TRIES) {
          throw e;
        }
      }
    }
  }

  private static void unpack(Path target) throws IOException {
    String name = "/postgres-%s-%s.txz".formatted(system(), architecture());
    try (InputStream packed = Binaries.class.getResourceAsStream(name)) {
      if (packed == null) {
        throw HoldfastException.badConfig(
            "--database-url",
            "none",
            "the address of a PostgreSQL, because there is none inside for " + name);
      }
      try (TarArchiveInputStream tar =
          new TarArchiveInputStream(new XZInputStream(new BufferedInputStream(packed)))) {
        for (TarArchiveEntry entry = tar.getNextEntry();
            entry != null;
            entry = tar.getNextEntry()) {
          unpack(tar, entry, target);
        }
      }
    }
  }

  private static void unpack(TarArchiveInputStream tar, TarArchiveEntry entry, Path target)
      throws IOException {
    Path file = target.resolve(entry.getName()).normalize();
    if (!file.startsWith(target)) {
      throw new IOException("an entry leads out of the archive: " + entry.getName());
    }
    if (entry.isDirectory()) {
      Files.createDirectories(file);
    } else if (entry.isSymbolicLink()) {
      Files.createDirectories(file.getParent());
      Files.createSymbolicLink(file, Path.of(entry.getLinkName()));
    } else {
      Files.createDirectories(file.getParent());
      Files.copy(tar, file);
      if ((entry.getMode() & ANY_EXECUTE) != 0) {
        Files.setPosixFilePermissions(file, PROGRAM);
      }
    }
  }

  private static String system() {
    String name = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
    return name.startsWith("mac") ? "darwin" : name;
  }

  private static String architecture() {
    return switch (System.getProperty("os.arch", "")) {
      case "amd64", "x86_64" -> "x86_64";
      case "aarch64", "arm64" -> "arm_64";
      case String other -> other;
    };
  }
}
