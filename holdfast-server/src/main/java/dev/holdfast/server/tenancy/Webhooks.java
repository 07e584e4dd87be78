package dev.holdfast.server.tenancy;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.mapper.RowMapper;

/** The webhooks of one tenant. Thread-safe. */
public final class Webhooks {

  private static final String PUT =
      """
      INSERT INTO {schema}.webhook (name, url, events, secret)
      VALUES (:name, :url, :events, :secret)
      ON CONFLICT (name) DO UPDATE
         SET url = excluded.url, events = excluded.events, secret = excluded.secret
      """;

  private static final String LIST =
      """
      SELECT name, url, events, secret FROM {schema}.webhook ORDER BY name LIMIT 1000
      """;

  private static final String FIND =
      """
      SELECT name, url, events, secret FROM {schema}.webhook WHERE name = :name
      """;

  // A new webhook must not get old events. So the notes go with the last webhook; and before the
  // first is added, notes go that a transaction wrote while the last one was being deleted.
  private static final String FORGET =
      """
      DELETE FROM {schema}.outbox WHERE NOT EXISTS (SELECT FROM {schema}.webhook)
      """;

  private static final String DELETE =
      """
      DELETE FROM {schema}.webhook WHERE name = :name
      """;

  private static final RowMapper<Webhook> WEBHOOK =
      (row, context) ->
          new Webhook(
              row.getString("name"),
              row.getString("url"),
              Columns.texts(row, "events").stream()
                  .map(Webhook.Event::of)
                  .collect(Collectors.toSet()),
              row.getString("secret"));

  private final Db db;
  private final Audit audit;

  Webhooks(Db db) {
    this.db = db;
    this.audit = new Audit(db);
  }

  public void put(Webhook webhook, Act act) {
    db.useTransaction(handle -> {
      handle.createUpdate(db.sql(FORGET)).execute();
      handle
          .createUpdate(db.sql(PUT))
          .bind("name", webhook.name())
          .bind("url", webhook.url())
          .bindArray(
              "events",
              String.class,
              webhook.events().stream().map(Webhook.Event::stored).sorted().toArray())
          .bind("secret", webhook.secret())
          .execute();
      audit.write(handle, act, "put_webhook", "webhook:" + webhook.name(), "", webhook.toString());
    });
  }

  public List<Webhook> list() {
    return db.withHandle(this::list);
  }

  /** The same in a caller's transaction. */
  public List<Webhook> list(Handle handle) {
    return handle.createQuery(db.sql(LIST)).map(WEBHOOK).list();
  }

  public Optional<Webhook> find(String name) {
    return db.withHandle(
        handle -> handle.createQuery(db.sql(FIND)).bind("name", name).map(WEBHOOK).findOne());
  }

  public void delete(String name, Act act) {
    db.useTransaction(handle -> {
      if (handle.createUpdate(db.sql(DELETE)).bind("name", name).execute() == 0) {
        throw new HoldfastException(ErrorCode.NOT_FOUND, "no webhook " + name);
      }
      handle.createUpdate(db.sql(FORGET)).execute();
      audit.write(handle, act, "delete_webhook", "webhook:" + name, name, "");
    });
  }
}
