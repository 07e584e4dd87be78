package dev.holdfast.server.dialect.pull;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.api.ServerParts;
import dev.holdfast.server.auth.FairLimit;
import dev.holdfast.server.auth.Principal;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.auth.Tokens;
import dev.holdfast.server.http.Bearer;
import dev.holdfast.server.http.Credential;
import dev.holdfast.server.http.LargeBodies;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.tenancy.OpenTenants;
import dev.holdfast.server.tenancy.PullSecret;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.TenantName;
import io.javalin.http.Context;
import java.time.Instant;
import java.util.Optional;

/**
 * Requests that are signed with a secret that the tenant shares with its workers: {@code
 * X-Auth-Sign} is the HMAC-SHA256 of method, path, digest of the body and {@code X-Auth-Ts}. Once a
 * tenant has a secret, it takes a signature where nothing else is asked for, and serves as well as
 * a token where one is. Who sends both is judged by the token.
 */
public final class Signatures implements Credential {

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

  // What strangers may have us keep in memory as they come; of larger bodies we take a few at once.
  private static final int SMALL_BYTES = 64 * 1024;

  // As many as of tokens that nobody knows.
  private static final int LOOK_UPS_AT_ONCE = 3;

  private final FairLimit lookUps = new FairLimit(LOOK_UPS_AT_ONCE);
  private final FairLimit hurriedLookUps = new FairLimit(LOOK_UPS_AT_ONCE);
  private final LargeBodies largeBodies = new LargeBodies();
  private final boolean tokens;
  private final OpenTenants openTenants;
  private final Db control;
  private final Db reserved;
  private final String remember;
  private final String nobodys = Tokens.drawSecret();

  public Signatures(ServerParts parts) {
    this.tokens = parts.config().trust().auth();
    this.openTenants = parts.openTenants();
    this.control = parts.holdfast().tenants().control();
    this.reserved = parts.holdfast().reserved().control();
    this.remember = control.sql(REMEMBER);
  }

  @Override
  public Optional<Principal> identify(Context http, TenantName tenant, boolean atOnce) {
    boolean signed = http.header(SignedRequest.SIGN) != null;
    if (tokens && (!signed || Bearer.of(http).isPresent())) {
      return Optional.empty(); // whoever sends a token is judged by that
    }
    Optional<PullSecret.InForce> secret = secret(tenant, atOnce);
    if (secret.isEmpty() && tokens) {
      // Told the same as one with a wrong signature, at the same pains: not everybody is to know
      // which tenants there are, and which of them have a secret.
      check(http, new PullSecret.InForce(nobodys, Instant.now()), control);
    }
    if (secret.isEmpty()) {
      return Optional.empty();
    }
    if (!signed) {
      throw Refusal.of(
          401,
          "NO_SIGNATURE",
          "requests are signed here: " + SignedRequest.TIME + ", " + SignedRequest.SIGN);
    }
    check(http, secret.get(), atOnce ? reserved : control);
    return Optional.of(
        new Principal("signed", Role.WORKER, Optional.of(tenant), "signed:" + tenant.value()));
  }

  // To open a tenant is to ask the database as well, and strangers may name any.
  private Optional<PullSecret.InForce> secret(TenantName tenant, boolean atOnce) {
    try {
      return atOnce
          ? hurriedLookUps.take(() -> openTenants.atOnce(tenant).pullSecret().getAtOnce())
          : lookUps.take(() -> openTenants.of(tenant).pullSecret().get());
    } catch (HoldfastException e) {
      if (e.code() == ErrorCode.NOT_FOUND) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private void check(Context http, PullSecret.InForce inForce, Db by) {
    SignedRequest request =
        new SignedRequest(
            http.req().getMethod(),
            http.req().getRequestURI(),
            () -> isSmall(http) ? http.bodyAsBytes() : largeBodies.read(http),
            Optional.ofNullable(http.header(SignedRequest.TIME)).orElse(""),
            Optional.ofNullable(http.header(SignedRequest.SIGN)).orElse(""));
    byte[] sign = request.check(inForce.secret(), inForce.now());
    if (!isNew(sign, by)) {
      throw Refusal.of(409, "REPLAYED", "this signature was used before; sign again");
    }
  }

  private static boolean isSmall(Context http) {
    return http.header("Transfer-Encoding") == null && http.contentLength() <= SMALL_BYTES;
  }

  private boolean isNew(byte[] sign, Db by) {
    return by.withHandle(handle -> handle.createUpdate(remember).bind("hash", sign).execute() == 1);
  }
}
