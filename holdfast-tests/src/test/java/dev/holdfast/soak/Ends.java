package dev.holdfast.soak;

import java.sql.Connection;
import java.sql.PreparedStatement;
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
      WITH time AS (SELECT ?::timestamptz AS since, ?::timestamptz AS until)
      SELECT queue || ' ' || kind || ' ' || state, count(*)
        FROM holdfast_default.job_all, time
       WHERE finished_at > since AND finished_at <= until
       GROUP BY 1
      UNION ALL
      SELECT 'attempts', count(*)
        FROM holdfast_default.attempt, time
       WHERE finished_at > since AND finished_at <= until
      """;

  private static final Map<String, Feature> FEATURES =
      Map.ofEntries(
          Map.entry("default work succeeded", Feature.DONE_WORK),
          Map.entry(Work.SELDOM + " work succeeded", Feature.DONE_BY_THE_IDLE),
          Map.entry("default tick succeeded", Feature.DONE_TICKS),
          Map.entry("commands process succeeded", Feature.DONE_COMMANDS),
          Map.entry(Work.ON_AGENT + " process succeeded", Feature.DONE_AGENTS_COMMANDS),
          Map.entry(Work.ON_AGENT + " container succeeded", Feature.DONE_CONTAINERS),
          Map.entry(Work.ON_AGENT + " " + Work.PLAYBOOK + " succeeded", Feature.DONE_PLAYBOOKS),
          Map.entry(Work.ON_AGENT + " http succeeded", Feature.DONE_CALLS),
          Map.entry("pull scrape succeeded", Feature.DONE_PULLED_JOBS),
          Map.entry(Work.DIALECT_TARGETS + " book succeeded", Feature.DONE_BOOKINGS),
          Map.entry("attempts", Feature.ATTEMPTS_THAT_WERE_NOT_THE_LAST));

  private final DataSource database;
  private final Tally tally;
  private String seenUntil = "-infinity";

  Ends(DataSource database, Tally tally) {
    this.database = database;
    this.tally = tally;
  }

  void look() throws SQLException {
    try (Connection connection = database.getConnection();
        Statement clock = connection.createStatement();
        ResultSet time = clock.executeQuery(NEXT);
        PreparedStatement query = connection.prepareStatement(JOBS)) {
      time.next();
      String until = time.getString(1);
      query.setString(1, seenUntil);
      query.setString(2, until);
      try (ResultSet rows = query.executeQuery()) {
        while (rows.next()) {
          long times = rows.getLong(2);
          Optional.ofNullable(FEATURES.get(rows.getString(1)))
              .ifPresent(feature -> tally.count(feature, times));
        }
      }
      seenUntil = until;
    }
  }
}
