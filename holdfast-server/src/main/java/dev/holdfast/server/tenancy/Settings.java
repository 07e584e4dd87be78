package dev.holdfast.server.tenancy;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.lease.AgentWords;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/** The settings of one tenant. What is stored wins over the environment. Thread-safe. */
public final class Settings {

  // That somebody said so: the environment has no word any more.
  private static final String SAY =
      """
      INSERT INTO {schema}.setting (name, value) VALUES (:name, :value)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = now()
      """;

  private static final String SEED =
      """
      INSERT INTO {schema}.setting (name, value) VALUES (:name, :value)
      ON CONFLICT (name) DO NOTHING
      """;

  private static final String IN_FORCE =
      """
      SELECT (defaults #>> :path)::numeric FROM {schema}.queue WHERE name = :queue
      """;

  private static final String SAID =
      """
      SELECT value::numeric FROM {schema}.setting WHERE name = :name
      """;

  private static final String LOCK =
      """
      SELECT name FROM {schema}.queue WHERE name = :queue FOR UPDATE
      """;

  private static final String ENFORCE =
      """
      INSERT INTO {schema}.queue (name, defaults)
      VALUES (:queue, jsonb_set(CASE WHEN :path[1] = 'retry' THEN '{"retry": {"type": "exponential"}}'
                                     ELSE '{}'
                                 END::jsonb, :path, to_jsonb(:value)))
      ON CONFLICT (name) DO UPDATE
         SET defaults =
               jsonb_set(
                 CASE WHEN :path[1] = 'retry'
                       AND coalesce(queue.defaults -> 'retry' ->> 'type', '') <> 'exponential'
                      THEN coalesce(queue.defaults::jsonb, '{}')
                             || '{"retry": {"type": "exponential"}}'
                      ELSE coalesce(queue.defaults::jsonb, '{}')
                  END, :path, to_jsonb(:value))
      """;

  private final Db db;
  private final Audit audit;
  private final AgentWords agents;

  Settings(Tenant tenant) {
    this.db = tenant.db();
    this.agents = new AgentWords(tenant);
    this.audit = new Audit(tenant);
  }

  /** All of them, as they are in force. */
  public Map<Setting, Long> all() {
    return db.inTransaction(handle -> {
      Map<Setting, Long> values = new EnumMap<>(Setting.class);
      for (Setting setting : Setting.values()) {
        values.put(setting, inForce(handle, setting));
      }
      return values;
    });
  }

  private long inForce(Handle handle, Setting setting) {
    return setting
        .place()
        .map(place ->
            handle
                .createQuery(db.sql(IN_FORCE))
                .bind("queue", place.queue())
                .bindArray("path", String.class, place.path()))
        .orElseGet(() -> handle.createQuery(db.sql(SAID)).bind("name", setting.name()))
        .mapTo(Long.class)
        .findOne()
        .orElse(setting.ofItself());
  }

  /** In force at once, everywhere. */
  public void put(Setting setting, long value, Act act) {
    long checked = setting.checked(value);
    db.useTransaction(handle -> {
      setting
          .place()
          .ifPresent(place ->
              handle
                  .createQuery(db.sql(LOCK))
                  .bind("queue", place.queue())
                  .mapTo(String.class)
                  .findOne());
      String before = String.valueOf(inForce(handle, setting));
      store(handle, SAY, setting, checked);
      enforce(handle, setting, checked);
      audit.write(
          handle, act, "put_setting", "setting:" + setting, before, String.valueOf(checked));
    });
    if (setting.endsAgentsLeases()) {
      agents.renewAll();
    }
  }

  /** What the environment says, where nobody said anything yet. */
  public void seed(Map<String, String> environment) {
    for (Setting setting : Setting.values()) {
      Optional.ofNullable(environment.get(setting.name()))
          .map(setting::parse)
          .ifPresent(value ->
              db.useTransaction(handle -> {
                if (store(handle, SEED, setting, value) == 1) {
                  enforce(handle, setting, value);
                }
              }));
    }
  }

  private int store(Handle handle, String sql, Setting setting, long value) {
    return handle
        .createUpdate(db.sql(sql))
        .bind("name", setting.name())
        .bind("value", String.valueOf(value))
        .execute();
  }

  private void enforce(Handle handle, Setting setting, long value) {
    setting
        .place()
        .ifPresent(place ->
            handle
                .createUpdate(db.sql(ENFORCE))
                .bind("queue", place.queue())
                .bindArray("path", String.class, place.path())
                .bind("value", value)
                .execute());
  }
}
