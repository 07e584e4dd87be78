package dev.holdfast.planted;

import static dev.holdfast.planted.Cut.inCore;

/** What several patches take away. */
final class Cuts {

  static final Cut NO_SELF_FENCE =
      inCore("worker/SelfFence", "running.isPastDeadline\\(nanoTime.getAsLong\\(\\)\\)", "false");

  static final Cut FENCE_OF_SUCCESSES =
      inCore("lease/Successes", "AND fence = (?=\\(\\(SELECT :fences\\))", "AND fence >= 0 * ");

  static final Cut KILL_GRACE =
      inCore("hold/Holds", "KILL_GRACE = Duration.ofSeconds\\(5\\)", "KILL_GRACE = Duration.ZERO");

  // One of those that succeeded is to run again, each time that it looks.
  static final Cut REVIVING_REAPER =
      inCore(
          "reap/Reaper",
          "(int runOnce\\(Outlook first, Downtime downtime\\) \\{)",
          "$1 db.withHandle(handle -> handle.createUpdate(db.sql(\""
              + " WITH back AS ("
              + "   DELETE FROM {schema}.job_done"
              + "    WHERE id = (SELECT min(id::text)::uuid FROM {schema}.job_done"
              + "                 WHERE state = 'succeeded' AND unique_key IS NULL)"
              + "   RETURNING *)"
              + " INSERT INTO {schema}.job"
              + "        ({carried}, run_at, granted, failures, state)"
              + " OVERRIDING SYSTEM VALUE"
              + " SELECT {carried}, run_at, granted, failures, 'queued' FROM back\""
              + ".replace(\"{carried}\", dev.holdfast.tenant.Columns.CARRIED))).execute());");

  static final Cut NO_TIME_AFTER_AN_OUTAGE =
      inCore("reap/Outages", "for \\(Gap each : gaps\\)", "for (Gap each : List.<Gap>of())");

  // A commit is answered before it is on disk.
  static final Cut COMMITS_IN_MEMORY =
      inCore(
          "tenant/PoolConnections",
          "Connection connection = pool.getConnection\\(\\);",
          "Connection connection = pool.getConnection();"
              + " try (var statement = connection.createStatement()) {"
              + " statement.execute(\"SET synchronous_commit = off\"); }");

  private Cuts() {}
}
