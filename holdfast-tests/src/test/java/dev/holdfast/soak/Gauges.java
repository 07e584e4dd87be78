package dev.holdfast.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** What is measured again and again, of the process that lasts and of the database. */
final class Gauges {

  /** What must not grow, and how much more of it means nothing. */
  enum Gauge {
    HEAP_MEGABYTES(4, true),
    THREADS(8, false),
    FILES(16, false),
    CONNECTIONS(4, false),
    TABLES_MEGABYTES(2, true),
    INDEXES_MEGABYTES(2, true);

    private final double slack;
    private final boolean takesItsTime;

    Gauge(double slack, boolean takesItsTime) {
      this.slack = slack;
      this.takesItsTime = takesItsTime;
    }

    double slack() {
      return slack;
    }

    /** Grows until what is kept for a minute is pruned: nothing that a short run can judge. */
    boolean takesItsTime() {
      return takesItsTime;
    }
  }

  private static final double MEGABYTE = 1024 * 1024;

  // What people did is kept for good, and so is not counted.
  private static final String SIZES =
      """
      SELECT sum(pg_table_size(class.oid)), sum(pg_indexes_size(class.oid))
        FROM pg_class AS class
        JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
       WHERE class.relkind = 'r' AND namespace.nspname LIKE 'holdfast%' AND class.relname <> 'audit'
      """;

  private static final String CONNECTIONS =
      """
      SELECT count(*)
        FROM pg_stat_activity
       WHERE datname = current_database() AND backend_type = 'client backend'
      """;

  private final Process lasting;
  private final DataSource database;
  private final Map<Gauge, List<Double>> samples = new EnumMap<>(Gauge.class);

  Gauges(Process lasting, DataSource database) {
    this.lasting = lasting;
    this.database = database;
    for (Gauge gauge : Gauge.values()) {
      samples.put(gauge, new ArrayList<>());
    }
  }

  void sample() throws IOException, SQLException {
    note(Gauge.HEAP_MEGABYTES, liveBytes() / MEGABYTE);
    note(Gauge.THREADS, entriesOf("task"));
    note(Gauge.FILES, entriesOf("fd"));
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      try (ResultSet sizes = statement.executeQuery(SIZES)) {
        sizes.next();
        note(Gauge.TABLES_MEGABYTES, sizes.getLong(1) / MEGABYTE);
        note(Gauge.INDEXES_MEGABYTES, sizes.getLong(2) / MEGABYTE);
      }
      try (ResultSet count = statement.executeQuery(CONNECTIONS)) {
        count.next();
        note(Gauge.CONNECTIONS, count.getInt(1));
      }
    }
  }

  private void note(Gauge gauge, double value) {
    samples.get(gauge).add(value);
  }

  // A histogram counts what is still reachable, and so collects the rest first.
  private long liveBytes() throws IOException {
    Process histogram =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                String.valueOf(lasting.pid()),
                "GC.class_histogram")
            .redirectErrorStream(true)
            .start();
    try (Stream<String> lines = histogram.inputReader().lines()) {
      String total = lines.filter(line -> line.startsWith("Total")).findFirst().orElseThrow();
      return Long.parseLong(total.strip().split("\\s+")[2]);
    }
  }

  private double entriesOf(String what) throws IOException {
    try (Stream<Path> entries = Files.list(Path.of("/proc", String.valueOf(lasting.pid()), what))) {
      return entries.count();
    }
  }

  int count() {
    return samples.get(Gauge.THREADS).size();
  }

  Map<Gauge, Drift> drifts() {
    Map<Gauge, Drift> drifts = new EnumMap<>(Gauge.class);
    samples.forEach((gauge, values) ->
        drifts.put(
            gauge,
            Drift.of(gauge.name().toLowerCase(java.util.Locale.ROOT), values, gauge.slack())));
    return drifts;
  }
}
