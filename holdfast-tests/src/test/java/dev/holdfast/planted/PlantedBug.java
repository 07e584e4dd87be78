package dev.holdfast.planted;

import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * A guard of the engine that is taken away on purpose: in which statement, whose if several use it,
 * and what stands there instead.
 */
enum PlantedBug implements UnaryOperator<String> {
  NO_RESOURCE_LOCK_IN_CLAIMS(Statements.LOCK, "ContestedClaims", "FOR UPDATE", ""),
  NO_RESOURCE_LOCK_AT_THE_END(Statements.LOCK, "Aftermath", "FOR UPDATE", ""),
  NO_RESOURCE_LOCK_IN_ACTS(Statements.LOCK, "Acts", "FOR UPDATE", ""),
  NO_RESOURCE_LOCK_FOR_CAPACITY(Statements.LOCK, "Resources", "FOR UPDATE", ""),
  NO_RESOURCE_LOCK_ANYWHERE(Statements.LOCK, "", "FOR UPDATE(?: SKIP LOCKED)?", ""),
  RESOURCES_MADE_TWICE(Statements.MAKE, "", "ON CONFLICT DO NOTHING", ""),

  NO_ORDER_OF_NAMES(Statements.LOCK, "", "ORDER BY asked.name", ""),
  NO_ORDER_OF_NEW_NAMES(Statements.MAKE, "", "ORDER BY wanted.name", ""),
  NO_ORDER_OF_FINISHED_JOBS(
      "WITH ended[\\s\\S]*gone AS",
      "",
      "DELETE FROM (\\S+)\\s+WHERE id = ANY (\\S+ job_ids FROM ended\\)::uuid\\[]\\))",
      "DELETE FROM $1 WHERE ctid = ANY"
          + " (ARRAY (SELECT found.ctid FROM $1 AS found WHERE found.id = ANY $2))"),
  NO_ORDER_OF_RETURNED_JOBS(
      "WITH ended[\\s\\S]*held AS",
      "",
      "FROM ended(?=\\s+CROSS)",
      "FROM (SELECT * FROM ended ORDER BY job_id DESC) AS ended"),
  NO_ORDER_OF_STOPPED_JOBS(
      "AND job.state = 'stopping'\\s+FOR UPDATE",
      "",
      "FROM (unnest.*)",
      "FROM (SELECT * FROM $1 ORDER BY job_id DESC) AS ended"),
  NO_ORDER_OF_SLOTS("followed AS MATERIALIZED", "", "ORDER BY schedule, scheduled_for.*", ""),
  NO_ORDER_OF_SKIPPED_SLOTS("INSERT INTO \\S+slot", "", "ORDER BY skipped.scheduled_for", ""),

  NO_WAKE_AT_THE_END(Statements.WAKE, "Aftermath", Statements.WOKEN, "AND false"),
  NO_WAKE_AFTER_ACTS(Statements.WAKE, "Acts", Statements.WOKEN, "AND false"),
  NO_WAKE_AFTER_CLAIMS(Statements.WAKE, "ContestedClaims", Statements.WOKEN, "AND false"),
  NO_WAKE_AFTER_CAPACITY(Statements.WAKE, "Resources", Statements.WOKEN, "AND false"),
  NO_WAKE_BY_THE_REAPER(Statements.WAKE, "Reaper", Statements.WOKEN, "AND false"),
  WAKES_THE_WRONG_ONE(
      Statements.WAKE,
      "",
      "ORDER BY job.run_at, job.seq",
      "ORDER BY job.run_at DESC, job.seq DESC"),
  WAKES_THE_BLOCKED(
      Statements.WAKE,
      "",
      "WHERE NOT EXISTS \\(SELECT FROM \\S+ WHERE block.resource = resource.name\\)",
      ""),

  PARKED_JOBS_CLAIMED(Statements.LOCK_JOBS, "", "AND (?:job\\.)?waiting_on IS NULL", ""),
  RUNNING_JOBS_CLAIMED(Statements.LOCK_JOBS, "", "AND (?:job\\.)?state = 'queued'", ""),
  NO_JOB_LOCK_IN_CLAIMS(Statements.LOCK_JOBS, "", "FOR UPDATE (?:OF job )?SKIP LOCKED", ""),
  PARKS_WHAT_IS_PARKED("waiting_since = coalesce", "", "AND coalesce\\(waiting_on, ''\\) = ''", ""),

  NO_CAPACITY(Statements.ROOMS, "", "resource.capacity,", "resource.capacity + 1 AS capacity,"),
  NO_BLOCKS(
      Statements.ROOMS,
      "",
      "EXISTS (?=\\(SELECT FROM \\S+block WHERE block.resource = r)",
      "false AND EXISTS "),
  NO_RESERVATIONS(Statements.ROOMS, "", "AND reservation.got", "AND false"),
  BLOCKED_RESERVATIONS_COUNT(Statements.ROOMS, "", "AND \\S+insists\\(reservation.job_id\\)", ""),
  SILENT_HOLDERS_DO_NOT_COUNT(Statements.ROOMS, "", "OR hold.passes_at > \\S+clock\\(\\)", ""),
  NO_ORDER_ON_A_TARGET(
      "first_on_target\\(resource.name, least\\(resource.capacity",
      "",
      "head.place",
      "head.place DESC"),

  ENDS_FREE_ANY_FENCE(Statements.RELEASE, "", "AND hold.fence = freed.fence", ""),
  NOTHING_FREED_AT_THE_END(Statements.RELEASE, "", "WHERE", "WHERE false AND"),
  NO_KILL_GRACE("SET passes_at", "", "\\+ \\? \\*", "+ 0 * ? *"),
  PASSES_ON_TOO_SOON("DELETE FROM \\S+hold WHERE resource", "", "AND passes_at <= \\S+", ""),

  RESERVATIONS_KEPT_AFTER_ACTS(Statements.FORGET, "Acts", "WHERE", "WHERE false AND"),
  RESERVATIONS_KEPT_WHEN_PARKED(
      "forgotten AS", "", "reservation\\s+WHERE", "reservation WHERE false AND"),
  RESERVATIONS_KEPT_AFTER_GRANT(
      "claimed AS[\\s\\S]*kept AS", "", "reservation WHERE", "reservation WHERE false AND"),

  FINISH_UNDER_ANY_FENCE(
      "WITH ended[\\s\\S]*gone AS",
      "",
      "AND fence = \\(\\(SELECT fences FROM ended\\)\\)\\s+\\[[^]]*\\]",
      ""),
  SEND_BACK_UNDER_ANY_FENCE("WITH ended[\\s\\S]*held AS", "", "AND job.fence = ended.fence", ""),
  STOPPING_JOBS_RUN_AGAIN(
      "WITH ended[\\s\\S]*held AS",
      "",
      "AND NOT \\(job.state = 'stopping' AND ended.state = 'queued'\\)",
      ""),
  REPEATED_CLAIMS_WAIT_WITH_LOCKS(
      "WITH leased AS MATERIALIZED", "", "FOR UPDATE SKIP LOCKED", "FOR UPDATE"),
  BEAT_UNDER_ANY_FENCE("mine AS MATERIALIZED", "", "AND job.fence = asked.fence", ""),
  REAPER_DOES_NOT_LOOK_AGAIN(
      Statements.LOCK_OVERDUE,
      "",
      "extract\\(epoch FROM \\S+clock\\(\\) - job.lease_expires_at\\) \\* 1000",
      "1"),
  BLOCKS_STAY("DELETE FROM \\S+block WHERE job_id", "", "WHERE", "WHERE false AND"),
  ACTS_LOCK_NO_JOB("SELECT id FROM \\S+job WHERE id = \\? FOR UPDATE", "", "FOR UPDATE", ""),
  ACTS_COMPARE_NOTHING(
      "id = \\? AND fence = \\? AND state = \\?",
      "ActStatements",
      "AND fence = \\? AND state = \\?",
      "AND fence >= 0 * ? AND (state = ? OR true)"),

  ACTS_TAKE_EVERY_JOB_FOR_PAUSED(
      "SELECT job_all\\.\\*[\\s\\S]*job_all\\.id = \\?",
      "Acts",
      "SELECT",
      "SELECT 'paused' AS state,"),
  STOPS_FORGET_WHAT_TO_END_AS("SET state = 'stopping'", "", "ELSE \\?", "ELSE nullif(?, 'paused')"),
  FORCED_UNDER_ANOTHER_FENCE(
      Statements.FORCED, "ForcedEnds", "job.fence,", "job.fence - 1 AS fence,"),
  FORCED_BUT_STILL_STOPPING(
      "SET state = 'running', stop_as = NULL", "", "WHERE", "WHERE false AND"),
  FORCED_WORK_COUNTS_AS_STOPPED(
      "SET passes_at", "ForcedEnds", "silent.lease_expires_at \\+", "now() - interval '1 day' +"),
  FORCED_WORK_HOLDS_FOR_EVER("SET passes_at", "ForcedEnds", "WHERE", "WHERE false AND"),
  NOTHING_TIMES_OUT(Statements.OVERDUE, "", "OR times_out_at", "OR false AND times_out_at"),
  TIMES_OUT_WITHOUT_GRACE(
      Statements.LOCK_OVERDUE + "|" + Statements.OVERDUE, "", "- \\? \\*", "- 0 * ? *"),
  LOST_COUNTS_AS_TIMED_OUT(
      Statements.LOCK_OVERDUE, "", "AND job.times_out_at <= job.lease_expires_at", ""),
  TIMES_OUT_WHILE_WAITING("WITH ended[\\s\\S]*held AS", "", "times_out_at = NULL,", ""),
  ANY_FAILURE_IS_THE_SAME(
      "AS asked \\(job_id, fence, outcome, error_code, worker\\)",
      "",
      "AND \\(asked.outcome <> 'failed' OR \\w+.error_code = asked.error_code\\)",
      ""),
  RETRIED_WITHOUT_AN_ATTEMPT("OVERRIDING SYSTEM", "Acts", "granted \\+ \\?", "granted + 0 * ?"),
  RETRIED_AT_THE_OLD_PLACE("OVERRIDING SYSTEM", "Acts", "THEN \\S+clock\\(\\)", "THEN run_at"),
  RETRIED_WITHOUT_HISTORY(
      "INSERT INTO \\S+attempt[\\s\\S]*job_done", "Acts", "WHERE", "WHERE false AND"),
  CHANGED_BUT_STILL_PARKED("lane = coalesce", "Acts", "waiting_on = NULL,", ""),
  CHANGED_BUT_IN_THE_OLD_LANE(
      "lane = coalesce", "Acts", "coalesce\\(\\?, lane\\)", "coalesce(lane, ?)"),
  DELETED_WITHOUT_ITS_HISTORY(
      "DELETE FROM \\S+job_log", "Acts", "attempt WHERE", "attempt WHERE false AND"),
  DELETED_WHILE_IT_HOLDS("SELECT EXISTS", "Acts", "SELECT EXISTS", "SELECT false AND EXISTS"),

  SLOTS_TAKEN_UNSEEN("INSERT INTO \\S+slot[\\s\\S]*VALUES", "", "ON CONFLICT DO NOTHING", ""),
  SLOTS_DO_NOT_FOLLOW("followed AS MATERIALIZED", "", "job_id = ANY", "false AND job_id = ANY"),
  TICKS_LOCK_NO_SCHEDULE(Statements.LOCK_DUE, "", "FOR UPDATE SKIP LOCKED", ""),
  TRIGGERS_LOCK_NO_SCHEDULE(
      "FROM \\S+schedule\\s+WHERE name = \\?\\s+FOR UPDATE", "", "FOR UPDATE", ""),
  RUNS_NEVER_GIVEN_UP("WITH stale AS MATERIALIZED", "", "AND status = 'running'", "AND false"),
  WAITING_RUNS_NEVER_GIVEN_UP("AND decided_at < ", "", "AND started_at IS NULL", "AND false"),
  OPEN_RUNS_DO_NOT_COUNT("status IN \\('queued', 'running'\\)\\s*$", "", "'queued', ", ""),
  RECOVERS_WHAT_IS_LEASED("WITH theirs AS MATERIALIZED", "", "WHERE leased_to IS NULL\\)\\)", "))"),
  ORPHANS_OF_LIVE_SCHEDULES("WITH orphan AS MATERIALIZED", "", "AND schedule.enabled", "AND false"),

  PAUSED_QUEUES_GIVE(
      "\\), lanes AS MATERIALIZED", "", "AND NOT coalesce\\(queue.paused, false\\)", ""),
  LIMITS_OF_QUEUES_NOT_COUNTED(
      "AS places\\s+FROM", "", "queue.concurrency_limit - \\(", "queue.concurrency_limit + 9 - ("),
  NO_LOCK_OF_LIMITED_QUEUES(
      "concurrency_limit IS NOT NULL AND NOT paused", "", "FOR UPDATE SKIP LOCKED", ""),

  STARTS_UNDER_ANY_FENCE(
      "SET state = 'running', started_at", "", "AND fence = \\?", "AND fence >= 0 * ?"),
  STARTED_AGAIN("SET state = 'running', started_at", "", "AND state = 'dispatched'", ""),
  STOPS_OF_OTHERS("SET state = 'stopping'\\s+WHERE", "", "AND fence = \\?", "AND fence >= 0 * ?"),
  ITEMS_UNDER_ANY_FENCE(
      "WITH mine AS MATERIALIZED[\\s\\S]*job_item", "", "fence = \\?", "fence >= 0 * ?"),
  TOKENS_WITHOUT_LIMIT(
      "stop_as = 'failed', error_code", "", "AND used.tokens >", "AND false AND used.tokens >"),
  TOKENS_UNDO_A_CANCEL(
      "stop_as = 'failed', error_code", "", "AND job.stop_as IS DISTINCT FROM 'cancelled'", ""),
  SUCCESS_OVER_THE_TOKEN_LIMIT(
      "stop_as IS DISTINCT FROM 'failed'", "", "AND stop_as IS DISTINCT FROM 'failed'", ""),
  KEYS_FORGOTTEN(
      "FROM \\S+idempotency WHERE job_id", "", "SELECT EXISTS", "SELECT false AND EXISTS"),
  FINISHED_IDS_ENQUEUED_AGAIN(
      "SELECT id FROM \\S+job_done WHERE id = ANY", "", "WHERE id", "WHERE false AND id"),
  NO_ORDER_OF_ENQUEUED_JOBS(
      "INSERT INTO \\S+job\\s[\\s\\S]*WITH ORDINALITY",
      "",
      "ORDER BY number",
      "ORDER BY number DESC"),
  FENCES_NOT_FRESH(
      "nextval",
      "",
      "nextval\\('(\\S+)\\.fence'\\)",
      "(SELECT coalesce(max(fence), 1) FROM $1.job)"),
  WORK_OF_ANOTHER_TENANT(
      "mine AS MATERIALIZED",
      "Beats",
      "\\{schema}|\\bholdfast_planted_\\d+",
      "holdfast_neighbour_0");

  // Second guards. Without them jobs try in vain, or nothing changes as long as the first holds:
  // what an act writes is guarded by fence and state, too, and whoever is parked is not claimed.
  private static final Set<String> HARMLESS =
      Set.of(
          "WAKES_THE_BLOCKED", "PARKS_WHAT_IS_PARKED", "ACTS_LOCK_NO_JOB", "ACTS_COMPARE_NOTHING");

  boolean isHarmless() {
    return HARMLESS.contains(name());
  }

  /**
   * Nothing comes of it but a deadlock, should two be in the middle of their statements at once.
   */
  boolean isInTheOrderOfLocks() {
    return name().startsWith("NO_ORDER_OF_");
  }

  private static final class Statements {
    static final String LOCK = "WHERE resource.name = wanted.name";
    static final String MAKE = "INSERT INTO \\S+\\.resource ";
    static final String WAKE = "WITH waited AS MATERIALIZED";
    static final String WOKEN =
        "AND coalesce\\(waiting_on, ''\\) = ANY \\(ARRAY \\(SELECT name FROM free\\)\\)";
    static final String RELEASE = "DELETE FROM \\S+hold\\s+WHERE ctid";
    static final String FORCED = "WHERE job.id = \\? AND job.worker IS NOT NULL";
    static final String OVERDUE = "worker IS NOT NULL\\s+AND \\(lease_expires_at";
    static final String LOCK_OVERDUE = "FOR UPDATE OF job SKIP LOCKED";
    static final String ROOMS = "AS reserved_by";
    static final String FORGET = "DELETE FROM \\S+\\.reservation WHERE job_id = ANY \\(\\?\\)\\s*$";
    static final String LOCK_DUE = "FROM \\S+schedule[\\s\\S]*SKIP LOCKED";
    static final String LOCK_JOBS = "AS asked \\(id, lane, seq\\)[\\s\\S]*SKIP LOCKED";
  }

  private final Pattern statement;
  private final String caller;
  private final Pattern guard;
  private final String instead;

  PlantedBug(String statement, String caller, String guard, String instead) {
    this.statement = Pattern.compile(statement);
    this.caller = caller;
    this.guard = Pattern.compile(guard);
    this.instead = instead;
  }

  /** Whether this is the statement, with the guard in it, whoever uses it. */
  boolean finds(String sql) {
    return statement.matcher(sql).find() && guard.matcher(sql).find();
  }

  /** This statement without the guard. */
  String rewritten(String sql) {
    return guard.matcher(sql).replaceAll(instead);
  }

  @Override
  public String apply(String sql) {
    return statement.matcher(sql).find() && isCalledByCaller() ? rewritten(sql) : sql;
  }

  private boolean isCalledByCaller() {
    return caller.isEmpty()
        || StackWalker.getInstance()
            .walk(frames -> frames.anyMatch(frame -> frame.getClassName().endsWith("." + caller)));
  }
}
