package dev.holdfast.soak;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;

/** Counts what came to its end, before it is pruned: that somebody asked for it is not enough. */
final class Ends {

  // A moment ago: what ends just now may be written after we looked.
  private static final String NEXT = "SELECT clock_timestamp() - interval '2 seconds'";

  private static final String JOBS =
      """
      SELECT queue || ' ' || kind || ' ' || state AS what, count(*)
        FROM holdfast_default.job_all
       WHERE finished_at > '%1$s' AND finished_at <= '%2$s'
       GROUP BY 1
      UNION ALL
      SELECT 'attempts', count(*)
        FROM holdfast_default.attempt
       WHERE finished_at > '%1$s' AND finished_at <= '%2$s'
      """;

  private static final Map<String, Feature> FEATURES =
      Map.ofEntries(
          Map.entry("default work succeeded", Feature.DONE_WORK),
          Map.entry("default tick succeeded", Feature.DONE_TICKS),
          Map.entry("commands process succeeded", Feature.DONE_COMMANDS),
          Map.entry(Work.ON_AGENT + " process succeeded", Feature.DONE_AGENTS_COMMANDS),
          Map.entry(Work.ON_AGENT + " http succeeded", Feature.DONE_CALLS),
          Map.entry("pull scrape succeeded", Feature.DONE_PULLED_JOBS),
          Map.entry(Work.DIALECT_TARGETS + " book succeeded", Feature.DONE_BOOKINGS),
          Map.entry(Work.TARGETS + " work failed", Feature.FAILED_WORK),
          Map.entry("attempts", Feature.ATTEMPTS_THAT_WERE_NOT_THE_LAST));

  private final DataSource database;
  private final Tally tally;
  private String until = "-infinity";

  Ends(DataSource database, Tally tally) {
    this.database = database;
    this.tally = tally;
  }

  void look() throws SQLException {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      String now;
      try (ResultSet row = statement.executeQuery(NEXT)) {
        row.next();
        now = row.getString(1);
      }
      try (ResultSet rows = statement.executeQuery(JOBS.formatted(until, now))) {
        while (rows.next()) {
          long times = rows.getLong(2);
          Optional.ofNullable(FEATURES.get(rows.getString(1)))
              .ifPresent(feature -> tally.count(feature, times));
        }
      }
      until = now;
    }
  }
}
