package dev.holdfast.server.auth;

import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.util.Optional;

/**
 * Sessions of people who signed in with a token, valid on every node. They are stored as their
 * SHA-256, like tokens; a session is valid only as long as its token. Thread-safe.
 */
public final class Sessions {

  public static final Duration LENGTH = Duration.ofHours(12);

  private static final String BEGIN =
      """
      INSERT INTO {schema}.session (hash, token_id, expires_at)
      SELECT :hash, token.id,
             least(token.expires_at, now() + :length_ms * interval '1 millisecond')
        FROM {schema}.token
       WHERE token.hash = :token_hash
         AND token.revoked_at IS NULL
         AND (token.expires_at IS NULL OR token.expires_at > now())
      """;

  private static final String IN_FORCE =
      """
      SELECT token.id, token.name, token.role, token.tenant
        FROM {schema}.session
        JOIN {schema}.token ON token.id = session.token_id
       WHERE session.hash = :hash
         AND session.expires_at > now()
         AND token.revoked_at IS NULL
         AND (token.expires_at IS NULL OR token.expires_at > now())
      """;

  private static final String END =
      """
      DELETE FROM {schema}.session WHERE hash = :hash
      """;

  private static final String FORGET =
      """
      DELETE FROM {schema}.session WHERE expires_at < now()
      """;

  private final Tokens tokens;
  private final Db db;

  public Sessions(Tokens tokens) {
    this.tokens = tokens;
    this.db = tokens.db();
  }

  /** Begins a session; empty when the token is not in force. */
  public Optional<String> begin(String token) {
    if (tokens.principal(token).isEmpty()) { // before anything is written
      return Optional.empty();
    }
    String session = Tokens.drawSecret();
    int begun =
        db.withHandle(handle -> {
          handle.createUpdate(db.sql(FORGET)).execute();
          return handle
              .createUpdate(db.sql(BEGIN))
              .bind("hash", Tokens.hash(session))
              .bind("token_hash", Tokens.hash(token))
              .bind("length_ms", LENGTH.toMillis())
              .execute();
        });
    return begun == 1 ? Optional.of(session) : Optional.empty();
  }

  /** The caller that the session belongs to, if it is in force. */
  public Optional<Principal> principal(String session) {
    byte[] hash = Tokens.hash(session);
    return tokens.door().ask(hash, () -> find(hash));
  }

  private Optional<Principal> find(byte[] hash) {
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(IN_FORCE))
            .bind("hash", hash)
            .map((row, context) ->
                new Principal(
                    row.getString("name"),
                    Role.of(row.getString("role")),
                    Columns.optionalText(row, "tenant").map(TenantName::new),
                    row.getString("id")))
            .findOne());
  }

  public void end(String session) {
    db.useHandle(
        handle -> handle.createUpdate(db.sql(END)).bind("hash", Tokens.hash(session)).execute());
  }
}
