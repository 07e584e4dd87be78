package dev.holdfast.server.postgres;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A copy of a data directory's database as it is at one moment, taken while it runs: its files
 * between {@code pg_backup_start} and {@code pg_backup_stop}, and the write-ahead log of what
 * happened to them meanwhile. A server that starts from the copy replays that log, and has
 * everything that was committed when the backup ended.
 */
public final class Backup {

  // Directories whose contents are created at the start or belong to one process; PostgreSQL's own
  // list.
  private static final Set<String> NOT_FILES_OF =
      Set.of(
          "pg_wal",
          "pg_replslot",
          "pg_dynshmem",
          "pg_notify",
          "pg_serial",
          "pg_snapshots",
          "pg_stat_tmp",
          "pg_subtrans");
  private static final Set<String> NOT_FILES =
      Set.of("postmaster.pid", "postmaster.opts", "backup_label", "tablespace_map");
  private static final Path CONTROL = Path.of("global", "pg_control");

  private final DataDirectory data;
  private final Path target;
  private final List<String> directories = new ArrayList<>();
  private final List<Manifest.Entry> entries = new ArrayList<>();

  private Backup(DataDirectory data, Path target) {
    this.data = data;
    this.target = target;
  }

  /**
   * Takes a backup. A running database keeps running; one that does not run is started for the
   * backup.
   *
   * @param directory the data directory of the server
   * @param target a directory that is empty or does not exist
   * @return the size of the backup in bytes
   */
  public static long take(Path directory, Path target) {
    DataDirectory data = DataDirectory.of(directory);
    if (!data.hasDatabase()) {
      throw HoldfastException.badConfig(
          "--data",
          directory,
          "a directory with a server's own database in it; one of yours is backed up by its own"
              + " means, and its fences are raised with `holdfast fences raise` after it was"
              + " restored");
    }
    data.refuseUnfinishedRestore();
    Backup backup = new Backup(data, target.toAbsolutePath());
    Optional<Access> running = data.running();
    if (running.isPresent()) {
      return backup.take(running.get());
    }
    try (EmbeddedPostgres postgres = EmbeddedPostgres.start(directory)) {
      return backup.take(data.running().orElseThrow());
    }
  }

  private long take(Access access) {
    try {
      Directories.claimEmpty("DIR", target);
      // One connection, because the backup and the slot that keeps the log from being recycled
      // belong to its session.
      try (Connection session = access.connect(Access.MAINTENANCE)) {
        copyDatabase(session);
      }
      copyIfThere(data.password(), DataDirectory.PASSWORD);
      copyIfThere(data.root().resolve(DataDirectory.TOKEN), DataDirectory.TOKEN);
      Copies.forceAll(target);
      new Manifest(data.majorVersion(), directories, entries).writeTo(target);
      return entries.stream().mapToLong(Manifest.Entry::size).sum();
    } catch (SQLException e) {
      throw new HoldfastException(
          ErrorCode.UNAVAILABLE, "the backup was cut off: " + e.getMessage(), e);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot back up into " + target, e);
    }
  }

  private void copyDatabase(Connection session) throws SQLException, IOException {
    ask(
        session,
        "SELECT pg_create_physical_replication_slot('holdfast_backup_' || pg_backend_pid(), true,"
            + " true)");
    String first = ask(session, "SELECT pg_walfile_name(pg_backup_start('holdfast', true))");
    Path copy = target.resolve(DataDirectory.CLUSTER);
    Files.walkFileTree(data.cluster(), new Copying(copy));
    copyFile(data.cluster().resolve(CONTROL), copy.resolve(CONTROL)); // after all others
    String last;
    try (Statement statement = session.createStatement();
        ResultSet ended =
            statement.executeQuery(
                "SELECT pg_walfile_name(lsn), labelfile, spcmapfile FROM pg_backup_stop(false)")) {
      ended.next();
      last = ended.getString(1);
      if (!ended.getString(3).isBlank()) {
        throw new HoldfastException(
            ErrorCode.BAD_CONFIG, "the database has tablespaces, which are not backed up");
      }
      Path label = copy.resolve("backup_label");
      Path draft = target.resolve("backup_label.new");
      Files.writeString(draft, ended.getString(2));
      copyFile(draft, label);
      Files.delete(draft);
    }
    copyLog(copy.resolve("pg_wal"), first, last);
  }

  private static String ask(Connection session, String sql) throws SQLException {
    try (Statement statement = session.createStatement();
        ResultSet answer = statement.executeQuery(sql)) {
      answer.next();
      return answer.getString(1);
    }
  }

  // Names of log segments of one timeline sort in their order.
  private void copyLog(Path copy, String first, String last) throws IOException {
    List<Path> segments;
    try (Stream<Path> files = Files.list(data.cluster().resolve("pg_wal"))) {
      segments = files.filter(file -> isNeeded(file, first, last)).sorted().toList();
    }
    for (Path segment : segments) {
      copyFile(segment, copy.resolve(segment.getFileName()));
    }
  }

  private static boolean isNeeded(Path file, String first, String last) {
    String name = file.getFileName().toString();
    return name.endsWith(".history")
        || (name.matches("[0-9A-F]{24}")
            && name.compareTo(first) >= 0
            && name.compareTo(last) <= 0);
  }

  private void copyIfThere(Path file, String name) throws IOException {
    if (Files.exists(file)) {
      copyFile(file, target.resolve(name));
    }
  }

  private void makeDirectory(Path directory) throws IOException {
    Directories.fresh(directory);
    directories.add(target.relativize(directory).toString());
  }

  private void copyFile(Path from, Path to) throws IOException {
    entries.add(Copies.copy(from, to, target.relativize(to).toString()));
  }

  private final class Copying extends SimpleFileVisitor<Path> {

    private final Path copy;

    Copying(Path copy) {
      this.copy = copy;
    }

    @Override
    public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
        throws IOException {
      Path inside = data.cluster().relativize(directory);
      if (inside.getFileName().toString().startsWith("pgsql_tmp")) {
        return FileVisitResult.SKIP_SUBTREE;
      }
      makeDirectory(copy.resolve(inside));
      return NOT_FILES_OF.contains(inside.toString())
          ? FileVisitResult.SKIP_SUBTREE
          : FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Path inside = data.cluster().relativize(file);
      String name = file.getFileName().toString();
      boolean isLeftOut =
          NOT_FILES.contains(name)
              || name.startsWith("pgsql_tmp")
              || name.startsWith("pg_internal.init")
              || inside.equals(CONTROL);
      if (!isLeftOut) {
        copyUnlessGone(file, copy.resolve(inside));
      }
      return FileVisitResult.CONTINUE;
    }

    // A table may have been dropped meanwhile; the log says so, too.
    private void copyUnlessGone(Path from, Path to) throws IOException {
      try {
        copyFile(from, to);
      } catch (NoSuchFileException e) {
        Files.deleteIfExists(to);
      }
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
      if (e instanceof NoSuchFileException) {
        return FileVisitResult.CONTINUE;
      }
      throw e;
    }
  }
}
