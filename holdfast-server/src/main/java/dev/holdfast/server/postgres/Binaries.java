package dev.holdfast.server.postgres;

import dev.holdfast.error.HoldfastException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.tukaani.xz.XZInputStream;

/**
 * PostgreSQL's programs, unpacked from the class path into a data directory: once, and again when
 * Holdfast comes with others, such as ones with a security hole closed.
 */
final class Binaries {

  private static final Set<PosixFilePermission> PROGRAM =
      PosixFilePermissions.fromString("rwxr-xr-x");
  private static final List<String> PROGRAMS = List.of("initdb", "pg_ctl", "postgres");
  private static final String ORIGIN = "unpacked-from.sha256";
  private static final int MOST_TRIES = 20;
  private static final int ANY_EXECUTE = 0b001_001_001;

  private Binaries() {}

  /** Refuses programs that the caller cannot use. */
  @FunctionalInterface
  interface Check {
    void of(Commands programs) throws IOException;
  }

  /**
   * Unpacks the programs, unless the same are there. The caller has the directory's lock.
   *
   * @param check comes first: if it refuses, the programs that were there stay, for the Holdfast
   *     that brought them
   * @return the directory that contains {@code bin}
   */
  static Path in(Path data, Check check) throws IOException {
    Path home = data.resolve("postgres");
    String digest = digest();
    if (isFrom(digest, home)) {
      check.of(new Commands(home));
      return home;
    }
    Path draft = Directories.fresh(data.resolve("postgres.new"));
    try {
      unpack(draft);
      awaitRunnable(draft);
      check.of(new Commands(draft));
      seal(draft, digest);
      replace(home, draft, data);
    } finally {
      Directories.remove(draft);
    }
    return home;
  }

  private static boolean isFrom(String digest, Path home) throws IOException {
    Path origin = home.resolve(ORIGIN);
    return Files.exists(origin) && Files.readString(origin).equals(digest);
  }

  // A file that says that all others are whole must not outlive a power cut that they do not.
  private static void seal(Path draft, String digest) throws IOException {
    Copies.forceAll(draft);
    Path origin = Files.writeString(draft.resolve(ORIGIN), digest);
    Copies.force(origin);
    Copies.force(draft);
  }

  // Complete, or not there: a start that is cut off in between is repeated.
  private static void replace(Path home, Path draft, Path data) throws IOException {
    Path old = data.resolve("postgres.old");
    Directories.remove(old);
    if (Files.exists(home, LinkOption.NOFOLLOW_LINKS)) {
      Files.move(home, old, StandardCopyOption.ATOMIC_MOVE);
    }
    Files.move(draft, home, StandardCopyOption.ATOMIC_MOVE);
    Copies.force(data);
    Directories.remove(old);
  }

  private static String digest() throws IOException {
    try (DigestInputStream in = new DigestInputStream(packed(), Copies.sha256())) {
      long unused = in.transferTo(OutputStream.nullOutputStream());
      return HexFormat.of().formatHex(in.getMessageDigest().digest());
    }
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
    try (TarArchiveInputStream tar =
        new TarArchiveInputStream(new XZInputStream(new BufferedInputStream(packed())))) {
      for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
        unpack(tar, entry, target);
      }
    }
  }

  private static InputStream packed() {
    String name = "/postgres-%s-%s.txz".formatted(system(), architecture());
    InputStream packed = Binaries.class.getResourceAsStream(name);
    if (packed == null) {
      throw HoldfastException.badConfig(
          "--database-url",
          "none",
          "the address of a PostgreSQL, because there is none inside for " + name);
    }
    return packed;
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
