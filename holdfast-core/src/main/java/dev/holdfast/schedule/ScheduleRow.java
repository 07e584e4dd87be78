package dev.holdfast.schedule;

import dev.holdfast.codec.Codec;
import dev.holdfast.codec.PolicyJson;
import dev.holdfast.job.Limits;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.schedule.Trigger.Every;
import dev.holdfast.schedule.Trigger.OnTheWall;
import dev.holdfast.tenant.Columns;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import org.jdbi.v3.core.statement.SqlStatement;
import org.jspecify.annotations.Nullable;

/** Binds and reads the columns of a schedule. */
final class ScheduleRow {

  static final String COLUMNS =
      """
      name, cron, every_ms, timezone, dst_twice, dst_missing, kind, queue, priority, args, policy,
      resources, "coalesce", misfire_grace_ms, max_instances, expected_runtime_ms, enabled\
      """;

  private static final PolicyJson POLICIES = new PolicyJson();

  private ScheduleRow() {}

  static <S extends SqlStatement<S>> S bind(S statement, Schedule schedule, Codec codec) {
    NewJob job = schedule.job();
    Object args = job.args();
    statement
        .bind("name", schedule.name())
        .bind("kind", job.kind())
        .bind("queue", job.queue())
        .bind("priority", job.priority())
        .bind(
            "args",
            args instanceof Payload payload
                ? payload.json()
                : Limits.payload("args", codec.encode(args)))
        .bind("policy", POLICIES.write(job.policy()))
        .bindArray("resources", String.class, job.needs().resources())
        .bind("coalesce", schedule.coalesce())
        .bind("misfire_grace_ms", schedule.misfireGrace().toMillis())
        .bind("max_instances", schedule.maxInstances())
        .bind("expected_runtime_ms", schedule.expectedRuntime().toMillis())
        .bind("enabled", schedule.enabled());
    return switch (schedule.trigger()) {
      case Every(Duration interval) ->
          bindTrigger(statement, null, interval.toMillis(), "UTC", Dst.DEFAULTS);
      case OnTheWall wall ->
          bindTrigger(statement, wall.expression(), null, wall.zone().getId(), wall.dst());
    };
  }

  private static <S extends SqlStatement<S>> S bindTrigger(
      S statement, @Nullable String cron, @Nullable Long everyMs, String zone, Dst dst) {
    return statement
        .bind("cron", cron)
        .bind("every_ms", everyMs)
        .bind("timezone", zone)
        .bind("dst_twice", dst.twice().name().toLowerCase(Locale.ROOT))
        .bind("dst_missing", dst.missing().name().toLowerCase(Locale.ROOT));
  }

  static Schedule read(ResultSet row) throws SQLException {
    NewJob job =
        NewJob.of(row.getString("kind"), new Payload(row.getString("args")))
            .withQueue(row.getString("queue"))
            .withPriority(row.getInt("priority"))
            .withPolicy(POLICIES.stored(row.getString("policy")).withoutTrace())
            .withResources(Columns.texts(row, "resources"));
    return new Schedule(
        row.getString("name"),
        trigger(row),
        job,
        row.getBoolean("coalesce"),
        // A node of an older version may store less.
        Duration.ofMillis(
            Math.max(Schedule.SHORTEST_GRACE.toMillis(), row.getLong("misfire_grace_ms"))),
        row.getInt("max_instances"),
        Duration.ofMillis(row.getLong("expected_runtime_ms")),
        row.getBoolean("enabled"));
  }

  private static Trigger trigger(ResultSet row) throws SQLException {
    String cron = row.getString("cron");
    if (cron == null) {
      return Trigger.every(Duration.ofMillis(row.getLong("every_ms")));
    }
    Dst dst =
        new Dst(
            Dst.Twice.valueOf(row.getString("dst_twice").toUpperCase(Locale.ROOT)),
            Dst.Missing.valueOf(row.getString("dst_missing").toUpperCase(Locale.ROOT)));
    return Trigger.cron(cron, Trigger.zone(row.getString("timezone")), dst);
  }
}
