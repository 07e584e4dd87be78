package dev.holdfast.queue;

import dev.holdfast.codec.PolicyJson;
import dev.holdfast.job.AttemptRecord;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Payload;
import dev.holdfast.tenant.Columns;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.mapper.RowMapper;

/** Maps rows of {@code job_all} and {@code attempt_all} to records. */
final class JobMapper {

  private static final PolicyJson POLICIES = new PolicyJson();

  /** A row of {@code job_all} with its queue's {@code defaults}. */
  static final RowMapper<Job> JOB = (row, context) -> job(row);

  static final RowMapper<AttemptRecord> ATTEMPT =
      (row, context) ->
          new AttemptRecord(
              row.getLong("fence"),
              row.getInt("number"),
              row.getString("worker"),
              row.getString("outcome"),
              Columns.instant(row, "started_at"),
              Columns.instant(row, "finished_at"),
              Columns.optionalText(row, "error_code"),
              Columns.optionalText(row, "error_message"),
              Columns.optionalText(row, "log_excerpt"));

  private JobMapper() {}

  /** About how many bytes the job has. Fields that are left out have much smaller limits. */
  static int weight(Job job) {
    return job.args().json().length()
        + job.result().map(result -> result.json().length()).orElse(0)
        + job.errorMessage().map(String::length).orElse(0);
  }

  static int weight(AttemptRecord attempt) {
    return attempt.errorMessage().map(String::length).orElse(0)
        + attempt.logExcerpt().map(String::length).orElse(0);
  }

  private static Job job(ResultSet row) throws SQLException {
    JobState state = JobState.of(row.getString("state"));
    return new Job(
        row.getObject("id", UUID.class),
        row.getString("kind"),
        row.getString("queue"),
        row.getInt("priority"),
        state,
        new Payload(row.getString("args")),
        Columns.texts(row, "tags"),
        Columns.needs(row),
        Columns.optionalText(row, "waiting_on"),
        Columns.instant(row, "run_at"),
        row.getInt("attempt"),
        row.getInt("granted"),
        POLICIES.resolve(row.getString("defaults"), row.getString("policy")),
        row.getLong("fence"),
        state.isLeased()
            ? Optional.of(
                new Job.LeaseInfo(
                    row.getString("worker"), Columns.instant(row, "lease_expires_at")))
            : Optional.empty(),
        Columns.progress(row),
        Columns.optionalInstant(row, "progress_at"),
        new Job.Usage(row.getLong("input_tokens"), row.getLong("output_tokens")),
        Columns.optionalText(row, "result").map(Payload::new),
        Columns.optionalText(row, "done_reason"),
        Columns.optionalText(row, "error_code"),
        Columns.optionalText(row, "error_message"),
        Columns.instant(row, "created_at"),
        Columns.optionalInstant(row, "started_at"),
        Columns.optionalInstant(row, "finished_at"));
  }
}
