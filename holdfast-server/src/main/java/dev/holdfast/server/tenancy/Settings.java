package dev.holdfast.server.tenancy;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.lease.FencelessReports;
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

  // NULL if the queue leaves it out. The engine fills in missing parts of an exponential retry with
  // the defaults of these settings.
  private static final String IN_FORCE =
      """
      SELECT coalesce((defaults #>> :path)::numeric,
                      CASE WHEN :path[1] = 'retry'
                            AND defaults -> 'retry' ->> 'type' = 'exponential'
                           THEN :of_itself::numeric
                       END)
        FROM {schema}.queue
       WHERE name = :queue
      """;

  private static final String RETRIES_IN_ANOTHER_WAY =
      """
      SELECT coalesce(defaults -> 'retry' ->> 'type', 'exponential') <> 'exponential'
        FROM {schema}.queue
       WHERE name = :queue
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
  private final FencelessReports agents;

  Settings(Tenant tenant) {
    this.db = tenant.db();
    this.agents = new FencelessReports(tenant);
    this.audit = new Audit(tenant);
  }

  /** The value in force; empty if the defaults of its queue leave it out. */
  public Optional<Long> inForce(Setting setting) {
    return db.withHandle(handle -> inForce(handle, setting));
  }

  /** All of them, as they are in force. */
  public Map<Setting, Optional<Long>> all() {
    return db.inTransaction(handle -> {
      Map<Setting, Optional<Long>> values = new EnumMap<>(Setting.class);
      for (Setting setting : Setting.values()) {
        values.put(setting, inForce(handle, setting));
      }
      return values;
    });
  }

  private Optional<Long> inForce(Handle handle, Setting setting) {
    if (setting.place().isPresent()) {
      Setting.Place place = setting.place().get();
      return handle
          .createQuery(db.sql(IN_FORCE))
          .bind("queue", place.queue())
          .bindArray("path", String.class, place.path())
          .bind("of_itself", setting.ofItself())
          .mapTo(Long.class)
          .findOne();
    }
    return handle
        .createQuery(db.sql(SAID))
        .bind("name", setting.name())
        .mapTo(Long.class)
        .findOne()
        .or(() -> Optional.of(setting.ofItself()));
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
      String before = inForce(handle, setting).map(String::valueOf).orElse("");
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
    said(environment)
        .forEach((setting, value) -> db.useTransaction(handle -> seed(handle, setting, value)));
  }

  /** The same in the transaction that creates the tenant, where no other can wait for a lock. */
  void seed(Handle handle, Map<String, String> environment) {
    said(environment).forEach((setting, value) -> seed(handle, setting, value));
  }

  // Somebody may have said it in the settings of its queue, too, or that it retries in another way.
  private void seed(Handle handle, Setting setting, long value) {
    boolean isUnsaid = inForce(handle, setting).filter(now -> now != setting.ofItself()).isEmpty();
    if (isUnsaid
        && !retriesInAnotherWay(handle, setting)
        && store(handle, SEED, setting, value) == 1) {
      enforce(handle, setting, value);
    }
  }

  private boolean retriesInAnotherWay(Handle handle, Setting setting) {
    return setting
        .place()
        .filter(place -> place.path().getFirst().equals("retry"))
        .flatMap(place ->
            handle
                .createQuery(db.sql(RETRIES_IN_ANOTHER_WAY))
                .bind("queue", place.queue())
                .mapTo(Boolean.class)
                .findOne())
        .orElse(false);
  }

  private static Map<Setting, Long> said(Map<String, String> environment) {
    Map<Setting, Long> said = new EnumMap<>(Setting.class);
    for (Setting setting : Setting.values()) {
      Optional.ofNullable(environment.get(setting.name()))
          .map(setting::parse)
          .ifPresent(value -> said.put(setting, value));
    }
    return said;
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
