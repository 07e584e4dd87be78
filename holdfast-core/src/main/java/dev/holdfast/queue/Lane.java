package dev.holdfast.queue;

import dev.holdfast.job.NewJob;
import dev.holdfast.job.Placement;
import dev.holdfast.tenant.Columns;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jdbi.v3.core.statement.SqlStatement;

/**
 * What makes jobs interchangeable to workers: jobs with equal values form one line.
 *
 * @param host empty for any host
 * @param hasNeeds whether the jobs need resources or have a subject; stored as {@code guarded}
 */
record Lane(
    String queue,
    String kind,
    int priority,
    String host,
    boolean hostRequired,
    List<String> labels,
    boolean hasNeeds) {

  static Lane of(NewJob job) {
    Placement placement = job.placement();
    return new Lane(
        job.queue(),
        job.kind(),
        job.priority(),
        placement.host().orElse(""),
        placement.hostRequired(),
        List.of(Placement.stored(placement.labels())),
        !job.needs().isNothing());
  }

  static Lane of(ResultSet row) throws SQLException {
    return new Lane(
        row.getString("queue"),
        row.getString("kind"),
        row.getInt("priority"),
        row.getString("host"),
        row.getBoolean("host_required"),
        Columns.texts(row, "labels"),
        row.getBoolean("guarded"));
  }

  Lane withPriority(int priority) {
    return new Lane(queue, kind, priority, host, hostRequired, labels, hasNeeds);
  }

  Lane withHost(Placement placement) {
    return new Lane(
        queue,
        kind,
        priority,
        placement.host().orElse(""),
        placement.hostRequired(),
        labels,
        hasNeeds);
  }

  void bindTo(SqlStatement<?> statement) {
    statement
        .bind("queue", queue)
        .bind("kind", kind)
        .bind("priority", priority)
        .bind("host", host)
        .bind("host_required", hostRequired)
        .bindArray("labels", String.class, labels)
        .bind("guarded", hasNeeds);
  }
}
