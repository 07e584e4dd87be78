package dev.holdfast.queue;

import dev.holdfast.codec.PolicyJson;
import dev.holdfast.job.Limits;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.wake.Announcer;
import java.util.Optional;

/** The queues of one tenant. They need no registration; one has a row once it is configured. */
public final class Queues {

  private static final String PUT =
      """
      INSERT INTO {schema}.queue (name, paused, concurrency_limit, defaults)
      VALUES (:name, :paused, :concurrency_limit, :defaults::json)
      ON CONFLICT (name) DO UPDATE
         SET paused = excluded.paused,
             concurrency_limit = excluded.concurrency_limit,
             defaults = excluded.defaults
      """;

  private static final String GET =
      """
      SELECT paused, concurrency_limit, defaults FROM {schema}.queue WHERE name = :name
      """;

  private final PolicyJson policies = new PolicyJson();
  private final String tenant;
  private final Db db;
  private final Announcer announcer;
  private final String put;
  private final String get;

  public Queues(Tenant tenant, Announcer announcer) {
    this.tenant = tenant.name().value();
    this.db = tenant.db();
    this.announcer = announcer;
    this.put = tenant.db().sql(PUT);
    this.get = tenant.db().sql(GET);
  }

  public QueueSettings get(String name) {
    Limits.name("queue", name);
    return db.withHandle(handle ->
            handle
                .createQuery(get)
                .bind("name", name)
                .map((row, context) ->
                    new QueueSettings(
                        row.getBoolean("paused"),
                        Optional.ofNullable(row.getObject("concurrency_limit", Integer.class)),
                        Optional.ofNullable(row.getString("defaults"))
                            .map(policies::read)
                            .orElse(PolicyOverrides.NONE)))
                .findOne())
        .orElse(QueueSettings.DEFAULTS);
  }

  /** In force from the next claim on, everywhere. */
  public void put(String name, QueueSettings settings) {
    Limits.name("queue", name);
    db.useHandle(handle ->
        handle
            .createUpdate(put)
            .bind("name", name)
            .bind("paused", settings.paused())
            .bind("concurrency_limit", settings.concurrencyLimit().orElse(null))
            .bind("defaults", defaultsJson(settings))
            .execute());
    announcer.announce(tenant); // a queue that goes on again, or got more room, has work
  }

  private String defaultsJson(QueueSettings settings) {
    return policies.write(settings.defaults());
  }
}
