package dev.holdfast.server.tenancy;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.time.Instant;
import java.util.Optional;

/**
 * The secret with which the pull workers of one tenant sign their requests, if they do.
 * Thread-safe.
 */
public final class PullSecret {

  /** The variable that sets the secret of the default tenant if it has none at the start. */
  public static final String ENVIRONMENT = "HOLDFAST_PULL_SECRET";

  private static final int SHORTEST = 16;

  private static final String GET =
      """
      SELECT value, {schema}.clock() AS now FROM {schema}.setting WHERE name = 'PULL_SECRET'
      """;

  private static final String PUT =
      """
      INSERT INTO {schema}.setting (name, value) VALUES ('PULL_SECRET', :secret)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = now()
      """;

  private static final String SEED =
      """
      INSERT INTO {schema}.setting (name, value) VALUES ('PULL_SECRET', :secret)
      ON CONFLICT (name) DO NOTHING
      """;

  private static final String DELETE =
      """
      DELETE FROM {schema}.setting WHERE name = 'PULL_SECRET'
      """;

  /** The secret, and the tenant's time, by which its signatures are checked. */
  public record InForce(String secret, Instant now) {

    @Override
    public String toString() {
      return "a secret at " + now;
    }
  }

  private final Db db;
  private final Db reserved;
  private final Audit audit;
  private final String get;

  PullSecret(Db db, Db reserved) {
    this.db = db;
    this.reserved = reserved;
    this.audit = new Audit(db);
    this.get = db.sql(GET);
  }

  public Optional<InForce> get() {
    return get(db);
  }

  /** The same for urgent requests, which must not wait behind the others. */
  public Optional<InForce> getAtOnce() {
    return get(reserved);
  }

  private Optional<InForce> get(Db by) {
    return by.withHandle(handle ->
        handle
            .createQuery(get)
            .map((row, context) -> new InForce(row.getString("value"), Columns.instant(row, "now")))
            .findOne());
  }

  /** Takes effect at once, on every node. */
  public void put(String secret, Act act) {
    String checked = checked("secret", secret);
    db.useTransaction(handle -> {
      handle.createUpdate(db.sql(PUT)).bind("secret", checked).execute();
      audit.write(handle, act, "put_pull_secret", "setting:PULL_SECRET", "", "");
    });
  }

  /** Stores the secret of the environment, if none is stored yet. */
  public void seed(String secret) {
    String checked = checked(ENVIRONMENT, secret);
    db.useHandle(handle -> handle.createUpdate(db.sql(SEED)).bind("secret", checked).execute());
  }

  public void delete(Act act) {
    db.useTransaction(handle -> {
      handle.createUpdate(db.sql(DELETE)).execute();
      audit.write(handle, act, "delete_pull_secret", "setting:PULL_SECRET", "", "");
    });
  }

  private static String checked(String field, String secret) {
    if (secret.length() < SHORTEST || secret.length() > Limits.NAME_CHARS) {
      throw HoldfastException.invalid(
          field,
          secret.length() + " characters",
          SHORTEST + " to " + Limits.NAME_CHARS + " characters");
    }
    try {
      return Limits.name(field, secret);
    } catch (HoldfastException e) { // its message would contain the secret
      throw HoldfastException.invalid(field, "not shown", "whole, printable characters");
    }
  }
}
