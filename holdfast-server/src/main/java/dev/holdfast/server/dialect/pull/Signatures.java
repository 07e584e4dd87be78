package dev.holdfast.server.dialect.pull;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.api.Parts;
import dev.holdfast.server.auth.Principal;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Credential;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.tenancy.Desks;
import dev.holdfast.server.tenancy.PullSecret;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.TenantName;
import io.javalin.http.Context;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Requests that are signed with a secret that the tenant shares with its workers: {@code
 * X-Auth-Sign} is the HMAC-SHA256 of method, path, digest of the body and {@code X-Auth-Ts}. Once a
 * tenant has a secret, it takes a signature where nothing else is asked for, and serves as well as
 * a token where one is.
 */
public final class Signatures implements Credential {

  private static final String SIGN = "X-Auth-Sign";
  private static final String TIME = "X-Auth-Ts";
  private static final String MAC = "HmacSHA256";
  private static final Duration LEEWAY = Duration.ofMinutes(5);
  private static final Pattern SIGN_SHAPE = Pattern.compile("\\p{XDigit}{64}");
  private static final Pattern TIME_SHAPE = Pattern.compile("\\d{1,12}");

  // With each that comes a few go that nobody could use any more: that costs always the same, and
  // an hour's worth of them is all that is kept.
  private static final String REMEMBER =
      """
      WITH old AS (
        SELECT hash
          FROM {schema}.signature
         WHERE at < now() - interval '1 hour'
         ORDER BY at
         LIMIT 5
           FOR UPDATE SKIP LOCKED
      ), forgotten AS (
        DELETE FROM {schema}.signature WHERE hash = ANY (ARRAY (SELECT hash FROM old))
      )
      INSERT INTO {schema}.signature (hash) VALUES (:hash) ON CONFLICT (hash) DO NOTHING
      """;

  private final boolean tokens;
  private final Desks desks;
  private final Db control;
  private final Db reserved;
  private final String remember;

  public Signatures(Parts parts) {
    this.tokens = parts.config().trust().auth();
    this.desks = parts.desks();
    this.control = parts.holdfast().tenants().control();
    this.reserved = parts.holdfast().reserved().control();
    this.remember = control.sql(REMEMBER);
  }

  @Override
  public Optional<Principal> identify(Context http, TenantName tenant, boolean atOnce) {
    boolean signed = http.header(SIGN) != null;
    if (tokens && !signed) {
      return Optional.empty();
    }
    Optional<PullSecret.InForce> secret = secret(tenant, atOnce);
    if (secret.isEmpty()) {
      return Optional.empty();
    }
    if (!signed) {
      throw Refusal.of(401, "NO_SIGNATURE", "requests are signed here: " + TIME + ", " + SIGN);
    }
    check(http, secret.get(), atOnce ? reserved : control);
    return Optional.of(
        new Principal("signed", Role.WORKER, Optional.of(tenant), "signed:" + tenant.value()));
  }

  // Whether there is such a tenant is not for everybody to know.
  private Optional<PullSecret.InForce> secret(TenantName tenant, boolean atOnce) {
    try {
      PullSecret kept = desks.of(tenant).pullSecret();
      return atOnce ? kept.getAtOnce() : kept.get();
    } catch (HoldfastException e) {
      if (e.code() == ErrorCode.NOT_FOUND) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private void check(Context http, PullSecret.InForce inForce, Db by) {
    String time = Optional.ofNullable(http.header(TIME)).orElse("");
    String sign = Optional.ofNullable(http.header(SIGN)).orElse("");
    if (!TIME_SHAPE.matcher(time).matches() || !SIGN_SHAPE.matcher(sign).matches()) {
      throw wrong();
    }
    Instant at = Instant.ofEpochSecond(Long.parseLong(time));
    if (Duration.between(at, inForce.now()).abs().compareTo(LEEWAY) > 0) {
      throw Refusal.of(
          401, "BAD_SIGNATURE", TIME + " is more than " + LEEWAY.toSeconds() + " s from now");
    }
    byte[] said = HexFormat.of().parseHex(sign);
    byte[] expected = sign(http, time, inForce.secret());
    if (!MessageDigest.isEqual(said, expected)) { // takes as long wherever they differ
      throw wrong();
    }
    if (!isNew(said, by)) {
      throw Refusal.of(409, "REPLAYED", "this signature was used before; sign again");
    }
  }

  private static Refusal.Refused wrong() {
    return Refusal.of(401, "BAD_SIGNATURE", "the signature is not that of this request");
  }

  private static byte[] sign(Context http, String time, String secret) {
    try {
      String body =
          HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(http.bodyAsBytes()));
      String text = "%s|%s|%s|%s".formatted(http.req().getMethod(), path(http), body, time);
      Mac mac = Mac.getInstance(MAC);
      mac.init(new SecretKeySpec(secret.getBytes(UTF_8), MAC));
      return mac.doFinal(text.getBytes(UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // every Java has both
    }
  }

  // As it was sent, without the query.
  private static String path(Context http) {
    return http.req().getRequestURI();
  }

  private boolean isNew(byte[] sign, Db by) {
    return by.withHandle(handle -> handle.createUpdate(remember).bind("hash", sign).execute() == 1);
  }
}
