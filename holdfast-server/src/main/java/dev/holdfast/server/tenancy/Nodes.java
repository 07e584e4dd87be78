package dev.holdfast.server.tenancy;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.mapper.RowMapper;

/** The nodes of one tenant. Thread-safe. */
public final class Nodes {

  private static final String PUT =
      """
      INSERT INTO {schema}.node (id, host, port, login, key_file, connection)
      VALUES (:id, :host, :port, :login, :key_file, :connection)
      ON CONFLICT (id) DO UPDATE
         SET host = excluded.host, port = excluded.port, login = excluded.login,
             key_file = excluded.key_file, connection = excluded.connection
      """;

  private static final String GET =
      """
      SELECT * FROM {schema}.node WHERE id = :id
      """;

  private static final String LIST =
      """
      SELECT * FROM {schema}.node WHERE id > :after ORDER BY id LIMIT :limit
      """;

  private static final String DELETE =
      """
      DELETE FROM {schema}.node WHERE id = :id
      """;

  private static final RowMapper<Node> NODE =
      (row, context) ->
          new Node(
              row.getString("id"),
              row.getString("host"),
              Optional.ofNullable(row.getObject("port", Integer.class)),
              Columns.optionalText(row, "login"),
              Columns.optionalText(row, "key_file"),
              Columns.optionalText(row, "connection"));

  private final Db db;
  private final Audit audit;

  Nodes(Db db) {
    this.db = db;
    this.audit = new Audit(db);
  }

  public void put(Node node, Act act) {
    db.useTransaction(handle -> {
      handle
          .createUpdate(db.sql(PUT))
          .bind("id", node.id())
          .bind("host", node.host())
          .bind("port", node.port().orElse(null))
          .bind("login", node.user().orElse(null))
          .bind("key_file", node.keyFile().orElse(null))
          .bind("connection", node.connection().orElse(null))
          .execute();
      audit.write(handle, act, "put_node", "node:" + node.id(), "", node.toString());
    });
  }

  public Optional<Node> find(String id) {
    return db.withHandle(
        handle -> handle.createQuery(db.sql(GET)).bind("id", id).map(NODE).findOne());
  }

  /** In the order of their ids, beginning after the given one. */
  public List<Node> list(String after, int limit) {
    Limits.page("limit", limit);
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(LIST))
            .bind("after", after)
            .bind("limit", limit)
            .map(NODE)
            .list());
  }

  public void delete(String id, Act act) {
    db.useTransaction(handle -> {
      if (handle.createUpdate(db.sql(DELETE)).bind("id", id).execute() == 0) {
        throw new HoldfastException(ErrorCode.NOT_FOUND, "no node " + id);
      }
      audit.write(handle, act, "delete_node", "node:" + id, id, "");
    });
  }
}
