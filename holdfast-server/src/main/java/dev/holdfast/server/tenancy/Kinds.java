package dev.holdfast.server.tenancy;

import dev.holdfast.api.Json;
import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.codec.PolicyJson;
import dev.holdfast.job.Limits;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.mapper.RowMapper;
import tools.jackson.databind.node.ObjectNode;

/** The registered kinds of one tenant. Other kinds need no registration. Thread-safe. */
public final class Kinds {

  private static final String PUT =
      """
      INSERT INTO {schema}.kind
             (name, executor, playbook, node_targeted, subject_during, defaults, settings)
      VALUES (:name, :executor, :playbook, :node_targeted, :subject_during, :defaults::json,
              :settings::json)
      ON CONFLICT (name) DO UPDATE
         SET executor = excluded.executor, playbook = excluded.playbook,
             node_targeted = excluded.node_targeted, subject_during = excluded.subject_during,
             defaults = excluded.defaults, settings = excluded.settings
      """;

  private static final String GET =
      """
      SELECT * FROM {schema}.kind WHERE name = :name
      """;

  private static final String LIST =
      """
      SELECT * FROM {schema}.kind WHERE name > :after ORDER BY name LIMIT :limit
      """;

  private static final PolicyJson POLICIES = new PolicyJson();

  private static final RowMapper<KindInfo> KIND =
      (row, context) ->
          new KindInfo(
              row.getString("name"),
              Columns.optionalText(row, "executor"),
              Columns.optionalText(row, "playbook"),
              row.getBoolean("node_targeted"),
              Columns.optionalText(row, "subject_during"),
              Columns.optionalText(row, "defaults")
                  .map(POLICIES::read)
                  .orElse(PolicyOverrides.NONE),
              settings(row));

  private static Optional<KindSettings> settings(ResultSet row) throws SQLException {
    Optional<String> json = Columns.optionalText(row, "settings");
    return json.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new KindSettings(
                row.getString("executor"), (ObjectNode) Json.parse("settings", json.get())));
  }

  private final Db db;
  private final Audit audit;
  private final String get;

  Kinds(Db db) {
    this.db = db;
    this.audit = new Audit(db);
    this.get = db.sql(GET);
  }

  /** Registers a kind, for jobs that are enqueued from now on. */
  public void put(KindInfo kind, Act act) {
    db.useTransaction(handle -> {
      handle
          .createUpdate(db.sql(PUT))
          .bind("name", kind.name())
          .bind("executor", kind.executor().orElse(null))
          .bind("playbook", kind.playbook().orElse(null))
          .bind("node_targeted", kind.nodeTargeted())
          .bind("subject_during", kind.subjectDuring().orElse(null))
          .bind("defaults", POLICIES.write(kind.defaults()))
          .bind("settings", kind.settings().map(KindSettings::json).orElse(null))
          .execute();
      audit.write(handle, act, "put_kind", "kind:" + kind.name(), "", kind.toString());
    });
  }

  public KindInfo get(String name) {
    Limits.name("kind", name);
    return find(name).orElseGet(() -> KindInfo.unregistered(name));
  }

  public Optional<KindInfo> find(String name) {
    return db.withHandle(handle -> handle.createQuery(get).bind("name", name).map(KIND).findOne());
  }

  /** In the order of their names, beginning after the given one. */
  public List<KindInfo> list(String after, int limit) {
    Limits.page("limit", limit);
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(LIST))
            .bind("after", after)
            .bind("limit", limit)
            .map(KIND)
            .list());
  }
}
