package dev.holdfast.server.auth;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.TenantName;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.mapper.RowMapper;

/**
 * Tokens: random, shown once, stored as their SHA-256. A slow hash would gain nothing, because 256
 * random bits cannot be guessed. Thread-safe.
 */
public final class Tokens {

  /** Makes a token that leaked into a log or a repository easy to find. */
  private static final String PREFIX = "hf_";

  private static final int BYTES = 32;
  private static final Pattern SHAPE = Pattern.compile("hf_[A-Za-z0-9_-]{43}");

  private static final String PUT =
      """
      INSERT INTO {schema}.token (id, name, role, tenant, hash, expires_at)
      VALUES (:id, :name, :role, :tenant, :hash, :expires_at)
      ON CONFLICT (hash) DO NOTHING
      """;

  private static final String IN_FORCE =
      """
      SELECT id, name, role, tenant
        FROM {schema}.token
       WHERE hash = :hash
         AND revoked_at IS NULL
         AND (expires_at IS NULL OR expires_at > now())
      """;

  // The tokens of one tenant, and those without a tenant if the caller has none either.
  private static final String LIST =
      """
      SELECT id, name, role, tenant, created_at, expires_at, revoked_at
        FROM {schema}.token
       WHERE (tenant = :tenant OR (:of_system AND tenant IS NULL))
         AND (:after::uuid IS NULL
              OR (created_at, id) < (SELECT created_at, id FROM {schema}.token WHERE id = :after::uuid))
       ORDER BY created_at DESC, id DESC
       LIMIT :limit
      """;

  private static final String REVOKE_ALL =
      """
      UPDATE {schema}.token SET revoked_at = now() WHERE tenant = :tenant AND revoked_at IS NULL
      """;

  private static final String REVOKE =
      """
      UPDATE {schema}.token
         SET revoked_at = now()
       WHERE id = :id AND revoked_at IS NULL
         AND (tenant = :tenant OR (:of_system AND tenant IS NULL))
      """;

  private static final RowMapper<Token> TOKEN =
      (row, context) ->
          new Token(
              row.getObject("id", UUID.class),
              row.getString("name"),
              Role.of(row.getString("role")),
              Columns.optionalText(row, "tenant"),
              Columns.instant(row, "created_at"),
              Columns.optionalInstant(row, "expires_at"),
              Columns.optionalInstant(row, "revoked_at"));

  private static final SecureRandom RANDOM = new SecureRandom(); // thread-safe

  private final Db db;
  private final Db reserved;
  private final String inForce;
  private final Doorkeeper door = new Doorkeeper();

  public Tokens(Db control) {
    this(control, control);
  }

  /**
   * The same, with a second set of connections.
   *
   * @param reserved connections for urgent requests, which must not wait behind the others
   */
  public Tokens(Db control, Db reserved) {
    this.db = control;
    this.reserved = reserved;
    this.inForce = control.sql(IN_FORCE);
  }

  /** A new token, of 256 random bits. */
  public String draw() {
    return PREFIX + drawSecret();
  }

  /** 256 random bits, as text. */
  public static String drawSecret() {
    byte[] bytes = new byte[BYTES];
    RANDOM.nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  Db db() {
    return db;
  }

  Doorkeeper door() {
    return door;
  }

  /**
   * Stores a token; one that is stored already stays unchanged.
   *
   * @param tenant empty if, and only if, the role is system
   */
  public UUID put(
      String token,
      String name,
      Role role,
      Optional<TenantName> tenant,
      Optional<Instant> expiresAt) {
    return db.withHandle(handle -> put(handle, token, name, role, tenant, expiresAt));
  }

  /** The same in a caller's transaction. */
  public UUID put(
      Handle handle,
      String token,
      String name,
      Role role,
      Optional<TenantName> tenant,
      Optional<Instant> expiresAt) {
    Limits.name("name", name);
    expiresAt.ifPresent(moment -> Limits.moment("expires_at", moment));
    if ((role == Role.SYSTEM) != tenant.isEmpty()) {
      throw HoldfastException.invalid(
          "tenant", tenant.map(TenantName::value).orElse("none"), "one, unless the role is system");
    }
    UUID id = UUID.randomUUID();
    handle
        .createUpdate(db.sql(PUT))
        .bind("id", id)
        .bind("name", name)
        .bind("role", role.stored())
        .bind("tenant", tenant.map(TenantName::value).orElse(null))
        .bind("hash", hash(token))
        .bind("expires_at", expiresAt.map(at -> at.atOffset(ZoneOffset.UTC)).orElse(null))
        .execute();
    return id;
  }

  /** The caller that the token belongs to, if it is in force. */
  public Optional<Principal> principal(String token) {
    return asked(token, hash -> door.ask(hash, () -> find(hash, db)));
  }

  /** The same for urgent requests, which must not wait behind the others. */
  public Optional<Principal> principalAtOnce(String token) {
    return asked(token, hash -> door.askAtOnce(hash, () -> find(hash, reserved)));
  }

  private static Optional<Principal> asked(
      String token, Function<byte[], Optional<Principal>> lookUp) {
    return isToken(token) ? lookUp.apply(hash(token)) : Optional.empty();
  }

  private Optional<Principal> find(byte[] hash, Db by) {
    return by.withHandle(handle ->
        handle
            .createQuery(inForce)
            .bind("hash", hash)
            .map((row, context) ->
                new Principal(
                    row.getString("name"),
                    Role.of(row.getString("role")),
                    Columns.optionalText(row, "tenant").map(TenantName::new),
                    row.getString("id")))
            .findOne());
  }

  /** The tokens of a tenant, newest first, beginning after the given one. */
  public List<Token> list(TenantName tenant, boolean ofSystem, Optional<UUID> after, int limit) {
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(LIST))
            .bind("tenant", tenant.value())
            .bind("of_system", ofSystem)
            .bind("after", after.orElse(null))
            .bind("limit", limit)
            .map(TOKEN)
            .list());
  }

  /** Revokes a token, on every node from the commit on. */
  public void revoke(Handle handle, UUID id, TenantName tenant, boolean ofSystem) {
    int revoked =
        handle
            .createUpdate(db.sql(REVOKE))
            .bind("id", id)
            .bind("tenant", tenant.value())
            .bind("of_system", ofSystem)
            .execute();
    if (revoked == 0) {
      throw new HoldfastException(ErrorCode.NOT_FOUND, "no token " + id + " in force");
    }
  }

  /**
   * Revokes all tokens of a tenant that is dropped: they must not be valid in a new tenant of the
   * same name.
   */
  public void revokeAll(Handle handle, TenantName tenant) {
    handle.createUpdate(db.sql(REVOKE_ALL)).bind("tenant", tenant.value()).execute();
  }

  /** Whether the text has the form of a token; otherwise no look-up is needed. */
  static boolean isToken(String text) {
    return SHAPE.matcher(text).matches();
  }

  /** The hash that is stored of a secret. */
  public static byte[] hash(String token) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new LinkageError("every Java has SHA-256", e);
    }
  }
}
