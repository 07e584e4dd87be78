package dev.holdfast.soak;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** Looks at the processes that last, and at the database, again and again. */
final class Gauges {

  /**
   * A process that is never ended.
   *
   * @param heap where it says how much of its heap is in use
   * @param directory where it keeps what it keeps
   */
  record Lasting(String name, Process process, int heap, Path directory) {}

  private static final double MEGABYTE = 1024 * 1024;
  private static final List<Gauge> OF_PROCESSES =
      List.of(Gauge.HEAP_MEGABYTES, Gauge.THREADS, Gauge.OPEN_FILES, Gauge.SAVED_FILES);

  // What people did is kept for good, and so is not measured.
  private static final String SIZES =
      """
      SELECT CASE WHEN namespace.nspname = 'pg_catalog' THEN 'CATALOG_MEGABYTES'
                  WHEN class.relkind = 'i' THEN 'INDEX_MEGABYTES'
                  ELSE 'TABLE_MEGABYTES'
              END AS gauge,
             namespace.nspname || '.' || class.relname AS name,
             CASE class.relkind WHEN 'i' THEN pg_relation_size(class.oid)
                                ELSE pg_table_size(class.oid)
              END AS bytes
        FROM pg_class AS class
        JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
       WHERE class.relkind IN ('r', 'i')
         AND namespace.nspname IN ('holdfast', 'holdfast_default', 'pg_catalog')
         AND class.relname NOT LIKE 'audit%'
      """;

  private static final String DEAD_ROWS =
      """
      SELECT schemaname || '.' || relname AS name, n_dead_tup
        FROM pg_stat_all_tables
       WHERE schemaname IN ('holdfast', 'holdfast_default', 'pg_catalog')
      """;

  private static final String COUNTS =
      """
      SELECT (SELECT count(*)
                FROM pg_stat_activity
               WHERE datname = current_database() AND backend_type = 'client backend'),
             (SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'holdfast%')
      """;

  private final List<Lasting> processes;
  private final DataSource database;
  private final Readings readings = new Readings();

  Gauges(List<Lasting> processes, DataSource database) {
    this.processes = List.copyOf(processes);
    this.database = database;
  }

  Readings readings() {
    return readings;
  }

  List<Readings.Key> ofProcesses() {
    return processes.stream()
        .flatMap(
            process -> OF_PROCESSES.stream().map(gauge -> new Readings.Key(gauge, process.name)))
        .toList();
  }

  void sample() throws IOException, SQLException {
    readings.look();
    for (Lasting process : processes) {
      readings.note(
          Gauge.HEAP_MEGABYTES, process.name, HeapTeller.bytesInUse(process.heap) / MEGABYTE);
      readings.note(Gauge.THREADS, process.name, entriesOf(process, "task"));
      readings.note(Gauge.OPEN_FILES, process.name, entriesOf(process, "fd"));
      readings.note(Gauge.SAVED_FILES, process.name, filesIn(process.directory));
    }
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      try (ResultSet rows = statement.executeQuery(SIZES)) {
        while (rows.next()) {
          readings.note(
              Gauge.valueOf(rows.getString("gauge")),
              rows.getString("name"),
              rows.getLong("bytes") / MEGABYTE);
        }
      }
      try (ResultSet rows = statement.executeQuery(DEAD_ROWS)) {
        while (rows.next()) {
          readings.note(Gauge.DEAD_ROWS, rows.getString("name"), rows.getDouble("n_dead_tup"));
        }
      }
      try (ResultSet counts = statement.executeQuery(COUNTS)) {
        counts.next();
        readings.note(Gauge.CONNECTIONS, "", counts.getInt(1));
        readings.note(Gauge.SCHEMAS, "", counts.getInt(2));
      }
    }
  }

  private static double entriesOf(Lasting process, String what) throws IOException {
    try (Stream<Path> entries =
        Files.list(Path.of("/proc", String.valueOf(process.process.pid()), what))) {
      return entries.count();
    }
  }

  private static double filesIn(Path directory) throws IOException {
    try (Stream<Path> entries = Files.walk(directory)) {
      return entries.count();
    } catch (UncheckedIOException e) {
      if (e.getCause() instanceof NoSuchFileException) {
        return filesIn(directory); // one was taken away under our eyes
      }
      throw e;
    }
  }
}
