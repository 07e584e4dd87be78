package dev.holdfast.server.postgres;

import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The layout of a server's data directory. */
record DataDirectory(Path root) {

  static final String CLUSTER = "database";
  static final String PASSWORD = "database.password";
  static final String TOKEN = "admin.token";

  private static final int PID_LINE = 0;
  private static final int PORT_LINE = 3;

  static DataDirectory of(Path root) {
    return new DataDirectory(root.toAbsolutePath().normalize());
  }

  Path cluster() {
    return root.resolve(CLUSTER);
  }

  Path password() {
    return root.resolve(PASSWORD);
  }

  Path log() {
    return root.resolve("database.log");
  }

  /** Exists while a restore is under way, and after one that was cut off. */
  Path unfinishedRestore() {
    return root.resolve("restore.unfinished");
  }

  boolean hasDatabase() {
    return Files.exists(cluster().resolve("PG_VERSION"));
  }

  String majorVersion() throws IOException {
    return Files.readString(cluster().resolve("PG_VERSION")).strip();
  }

  void refuseUnfinishedRestore() {
    if (Files.exists(unfinishedRestore())) {
      throw HoldfastException.badConfig(
          "--data",
          root,
          "a directory that is whole; a restore into this one was cut off: remove it, and restore"
              + " again");
    }
  }

  /** The process named in the database's PID file, if it is alive. */
  Optional<ProcessHandle> postmaster() {
    return pidFile()
        .flatMap(lines -> ProcessHandle.of(Long.parseLong(lines.get(PID_LINE).strip())))
        // The PID may belong to another program by now.
        .filter(process -> process.info().command().filter(DataDirectory::isPostgres).isPresent());
  }

  // Linux says so of a program that was replaced while it runs.
  private static boolean isPostgres(String program) {
    return program.endsWith("postgres") || program.endsWith("postgres (deleted)");
  }

  /** Access to the database if it runs, whichever server started it. */
  Optional<Access> running() {
    if (postmaster().isEmpty()) {
      return Optional.empty();
    }
    return pidFile()
        .filter(lines -> lines.size() > PORT_LINE) // fewer while it starts
        .map(lines -> new Access(Integer.parseInt(lines.get(PORT_LINE).strip()), readPassword()));
  }

  private String readPassword() {
    try {
      return Files.readString(password()).strip();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + password(), e);
    }
  }

  private Optional<List<String>> pidFile() {
    try {
      Path file = cluster().resolve("postmaster.pid");
      return Files.exists(file)
          ? Optional.of(Files.readAllLines(file)).filter(lines -> !lines.isEmpty())
          : Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
