package dev.holdfast.planted;

import static dev.holdfast.planted.Cut.inCore;
import static dev.holdfast.planted.Cut.inServer;

import java.time.Duration;
import java.util.List;

/** Guards against databases that are away, full or set back, wrong clocks, and what grows. */
@SuppressWarnings("ImmutableEnumChecker") // nobody changes these lists
enum OutagePatch implements PlantedPatch {
  NO_TIME_AFTER_A_STANDSTILL(
      Trial.of(
          "database.OutageTest",
          "a_lease_can_be_renewed_when_the_database_stood_still_for_longer_than_the_lease"),
      Cuts.NO_TIME_AFTER_AN_OUTAGE),
  NO_TIME_AFTER_A_RESTART(
      Trial.of(
          "database.OutageTest",
          "a_job_that_ended_while_the_database_was_away_has_ended_however_long_that_was",
          "a_lease_can_be_renewed_when_the_database_comes_back_however_long_it_was_away"),
      inCore(
          "reap/Outages",
          "Duration away = notNegative\\(before.minus\\(known\\)\\);",
          "Duration away = Duration.ZERO;")),
  FENCED_HANDLERS_WRITE(
      Trial.of(
          "database.OutageTest",
          "a_handler_that_stopped_itself_in_an_outage_writes_nothing_when_the_database_is_back"),
      inCore(
          "worker/AttemptReports",
          "running\\.is(Lost|Over)\\(\\)",
          "running.recorded().isPresent()"),
      inCore("worker/Running", "if \\(isLost\\(\\)\\) \\{", "if (false) {")),

  SLOTS_BY_THE_NODES_CLOCK(
      Trial.of("database.ClockTest", Names.CLOCKS),
      inCore("schedule/Definitions", "Columns.instant\\(row, \"now\"\\)", "Instant.now()")),
  DELAYS_BY_THE_NODES_CLOCK(
      Trial.of("database.ClockTest", Names.CLOCKS),
      inCore(
          "queue/JobRow",
          "(at.instant\\(\\).atOffset\\(ZoneOffset.UTC\\)) : null",
          "$1 : job.when() instanceof When.After later && !later.delay().isZero()"
              + " ? OffsetDateTime.now(ZoneOffset.UTC).plus(later.delay()) : null")),
  NO_SELF_FENCE_BY_ANY_CLOCK(Trial.of("database.ClockTest", Names.CLOCKS), Cuts.NO_SELF_FENCE),

  COMMITS_LOST_IN_A_CRASH(
      Trial.of(
          "database.CrashTest",
          "nothing_acknowledged_is_lost_when_the_database_crashes_and_workers_go_on_by_themselves"),
      Cuts.COMMITS_IN_MEMORY),
  COMMITS_LOST_WITH_THE_POWER(
      Trial.of(
          "chaos.PowerTest",
          "nothing_acknowledged_is_lost_when_server_and_database_are_killed_together"),
      Cuts.COMMITS_IN_MEMORY),
  COMMITS_LOST_IN_A_PROMOTION(
      Trial.of(
          "database.Promotions",
          "nothing_acknowledged_is_lost_when_the_standby_takes_over_and_work_goes_on_in_seconds"),
      Cuts.COMMITS_IN_MEMORY),
  COMMITS_LOST_UNDER_PATRONI(
      Trial.of("database.PatroniSwitches", Names.PATRONI), Cuts.COMMITS_IN_MEMORY),
  NO_SELF_FENCE_UNDER_PATRONI(
      Trial.of("database.PatroniSwitches", Names.PATRONI), Cuts.NO_SELF_FENCE),
  READ_ONLY_CONNECTIONS_KEPT(
      Trial.of(
              "server.FailoverTest",
              "after_a_failover_claims_go_on_at_the_new_primary_in_seconds_and_nothing_is_lost")
          .hanging(),
      inServer(
          "database/Database",
          "pool.setConnectionTestQuery\\(TAKES_WRITES\\);"
              + "\\s+pool.setExceptionOverride\\(new DropsReadOnly\\(\\)\\);",
          ""),
      inCore("tenant/SqlErrors", "return state\\(e\\).equals\\(READ_ONLY\\);", "return false;")),

  HEARTBEATS_FROM_THE_SHARED_POOL(
      Trial.of(
              "database.ExhaustedPoolTest",
              "leases_are_renewed_and_ends_are_written_while_the_application_has_all_other"
                  + "_connections")
          .hanging(),
      inCore("tenant/KeptConnection", "keeping\\s+&& connections", "false && connections")),
  ENDS_THROWN_AWAY(
      Trial.of(
              "database.ExhaustedPoolTest",
              "leases_are_renewed_and_ends_are_written_while_the_application_has_all_other"
                  + "_connections",
              "ends_that_cannot_be_written_are_kept_until_there_is_a_connection_again")
          .hanging(),
      inCore(
          "worker/Finisher",
          "List<FinishReply> replies = leases.finish\\(batch\\);(\\s+pace.end\\(\\);)"
              + "\\s+List<Finish> written = batch;\\s+batch = new ArrayList<>\\(\\);",
          "List<Finish> written = batch; batch = new ArrayList<>();"
              + " List<FinishReply> replies = leases.finish(written);$1")),
  FULL_DISKS_NOT_TOLD(
      Trial.of(
          "server.FullDiskTest",
          "a_full_disk_is_said_clearly_loses_nothing_and_is_got_over_by_itself"),
      inServer("http/Problems", "SqlErrors.isDiskFull\\(e\\)", "false")),

  FENCES_NOT_RAISED(
      Trial.of(
          "server.BackupTest",
          "what_is_restored_has_all_that_was_acknowledged_and_refuses_a_stale_worker"),
      inCore("lease/Fences", "CASE WHEN micros > before .* END", "before + 0 * :leap")),
  DAMAGED_BACKUPS_RESTORED(
      Trial.of(
          "server.BackupTest",
          "a_backup_that_is_damaged_or_not_whole_is_refused_and_leaves_nothing"),
      inServer(
          "postgres/Restore",
          "(!Copies.copy\\(from, inData\\(entry.path\\(\\)\\), entry.path\\(\\)\\).equals\\(entry\\))",
          "$1 && false")),

  STATEMENTS_PREPARED_IN_SHARED_SESSIONS(
      Trial.of(
              "server.BouncerTest",
              "a_server_and_workers_run_through_it",
              "without_prepared_statements_switched_off_the_start_is_refused_and_says_so",
              "with_a_direct_address_to_listen_on_workers_are_woken_at_once")
          .hanging(),
      inServer("database/Database", "if \\(!(Pooling.of.*.keepsStatements\\(\\))\\)", "if (false)"),
      inCore("tenant/Pooling", "!keepsStatements && threshold != 0", "false")),

  THREADS_LEFT_BEHIND(
      Trial.of("soak.SoakTest", "nothing_grows_however_long_it_runs"),
      inCore(
          "loop/SpareThreads",
          "return Executors.newCachedThreadPool\\(([\\s\\S]*?\\n    \\})\\);",
          "return given -> Executors.newFixedThreadPool(1, $1).execute(given);"));

  /** Tests that several patches must fail. */
  private static final class Names {
    static final String PATRONI = "nothing_acknowledged_is_lost_when_patroni_changes_the_leader";
    static final String CLOCKS = "nodes_whose_clocks_are_wrong_do_everything_at_the_databases_time";
  }

  private final Trial trial;
  private final List<Cut> cuts;

  OutagePatch(Trial trial, Cut... cuts) {
    this.trial = trial.within(Duration.ofMinutes(15));
    this.cuts = List.of(cuts);
  }

  @Override
  public Trial trial() {
    return trial;
  }

  @Override
  public List<Cut> cuts() {
    return cuts;
  }
}
