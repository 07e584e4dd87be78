package dev.holdfast.examples.controlplane;

import dev.holdfast.executor.NodeAddress;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Moved;
import dev.holdfast.job.Subject;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.tenant.SchemaName;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;

/** The application's own tables, in a schema of their own beside Holdfast's. Thread-safe. */
final class Tables implements TransitionHook {

  /** Where an environment is, and on what. */
  record Environment(String id, String siteId, String nodeId, String state, String root) {}

  private static final String ADD_NODE =
      """
      INSERT INTO {schema}.node (id, host, port, login, key_file, connection, root)
      VALUES (:id, :host, :port, :login, :key_file, :connection, :root)
      """;

  private static final String ADD_SITE =
      """
      INSERT INTO {schema}.site (id, name) VALUES (:id, :name)
      """;

  private static final String ADD_ENVIRONMENT =
      """
      INSERT INTO {schema}.environment (id, site_id, node_id, name)
      VALUES (:id, :site_id, :node_id, :name)
      """;

  private static final String FIND_ENVIRONMENT =
      """
      SELECT environment.id, environment.site_id, environment.node_id, environment.state, node.root
        FROM {schema}.environment
        JOIN {schema}.node ON node.id = environment.node_id
       WHERE environment.id = :id
      """;

  private static final String FIND_NODE =
      """
      SELECT id, host, port, login, key_file, connection FROM {schema}.node WHERE id = :id
      """;

  private static final String BEGIN =
      """
      UPDATE {schema}.environment SET state = ?, job_id = ? WHERE id = ?
      """;

  // Only what this job began: one that is cancelled before its start leaves the environment alone.
  private static final String END =
      """
      UPDATE {schema}.environment SET state = ?, job_id = NULL WHERE id = ? AND job_id = ?
      """;

  private final Jdbi jdbi;
  private final SchemaName schema;

  Tables(DataSource dataSource, SchemaName schema) {
    this.jdbi = Jdbi.create(dataSource);
    this.schema = schema;
  }

  void create() {
    try (InputStream file =
        Objects.requireNonNull(Tables.class.getResourceAsStream("tables.sql"))) {
      String sql = schema.render(new String(file.readAllBytes(), StandardCharsets.UTF_8));
      jdbi.useHandle(handle -> handle.createScript(sql).execute());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void addNode(NodeAddress node, String root) {
    jdbi.useHandle(handle ->
        handle
            .createUpdate(schema.render(ADD_NODE))
            .bind("id", node.id())
            .bind("host", node.host())
            .bind("port", node.port().orElse(null))
            .bind("login", node.user().orElse(null))
            .bind("key_file", node.keyFile().orElse(null))
            .bind("connection", node.connection().orElse(null))
            .bind("root", root)
            .execute());
  }

  void addSite(String id, String name) {
    jdbi.useHandle(handle ->
        handle.createUpdate(schema.render(ADD_SITE)).bind("id", id).bind("name", name).execute());
  }

  void addEnvironment(String id, String siteId, String nodeId, String name) {
    jdbi.useHandle(handle ->
        handle
            .createUpdate(schema.render(ADD_ENVIRONMENT))
            .bind("id", id)
            .bind("site_id", siteId)
            .bind("node_id", nodeId)
            .bind("name", name)
            .execute());
  }

  Optional<Environment> environment(String id) {
    return jdbi.withHandle(handle ->
        handle
            .createQuery(schema.render(FIND_ENVIRONMENT))
            .bind("id", id)
            .map((row, context) ->
                new Environment(
                    row.getString("id"),
                    row.getString("site_id"),
                    row.getString("node_id"),
                    row.getString("state"),
                    row.getString("root")))
            .findOne());
  }

  Optional<NodeAddress> node(String id) {
    return jdbi.withHandle(handle ->
        handle
            .createQuery(schema.render(FIND_NODE))
            .bind("id", id)
            .map((row, context) ->
                new NodeAddress(
                    row.getString("id"),
                    row.getString("host"),
                    Optional.ofNullable(row.getObject("port", Integer.class)),
                    Optional.ofNullable(row.getString("login")),
                    Optional.ofNullable(row.getString("key_file")),
                    Optional.ofNullable(row.getString("connection"))))
            .findOne());
  }

  /** In the transaction that moves the jobs: both happen, or neither. */
  @Override
  public void moved(Connection connection, List<Moved> moved) throws SQLException {
    for (Moved move : moved) {
      Optional<Subject> subject = move.needs().subject();
      if (subject.isPresent() && subject.get().type().equals("environment")) {
        follow(connection, move, subject.get());
      }
    }
  }

  private void follow(Connection connection, Moved move, Subject environment) throws SQLException {
    if (move.to() == JobState.RUNNING && environment.during().isPresent()) {
      try (PreparedStatement begin = connection.prepareStatement(schema.render(BEGIN))) {
        begin.setString(1, environment.during().get());
        begin.setObject(2, move.jobId());
        begin.setString(3, environment.id());
        begin.executeUpdate();
      }
    } else if (move.to().isFinished()) { // while a retry waits it stays where it is
      try (PreparedStatement end = connection.prepareStatement(schema.render(END))) {
        end.setString(1, move.to() == JobState.SUCCEEDED ? Subject.ACTIVE : Subject.FAILED);
        end.setString(2, environment.id());
        end.setObject(3, move.jobId());
        end.executeUpdate();
      }
    }
  }
}
