package dev.holdfast.server.dialect.pull;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.server.http.Refusal;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What was sent, and the signature that came with it. Whether the two belong together needs neither
 * a connection nor a clock of its own.
 *
 * @param path as it was sent, without the query
 * @param body read only if the rest may be right
 * @param time seconds since 1970
 * @param sign hex
 */
record SignedRequest(String method, String path, Supplier<byte[]> body, String time, String sign) {

  static final String SIGN = "X-Auth-Sign";
  static final String TIME = "X-Auth-Ts";
  static final Duration LEEWAY = Duration.ofMinutes(5);

  private static final String MAC = "HmacSHA256";
  private static final Pattern SIGN_SHAPE = Pattern.compile("\\p{XDigit}{64}");
  private static final Pattern TIME_SHAPE = Pattern.compile("\\d{1,12}");

  /**
   * The signature, if it is that of this request under this secret, made within minutes from now.
   *
   * @throws Refusal.Refused if it is not
   */
  byte[] check(String secret, Instant now) {
    if (!TIME_SHAPE.matcher(time).matches() || !SIGN_SHAPE.matcher(sign).matches()) {
      throw wrong();
    }
    Instant at = Instant.ofEpochSecond(Long.parseLong(time));
    if (Duration.between(at, now).abs().compareTo(LEEWAY) > 0) {
      throw Refusal.of(
          401, "BAD_SIGNATURE", TIME + " is more than " + LEEWAY.toSeconds() + " s from now");
    }
    byte[] said = HexFormat.of().parseHex(sign);
    if (!MessageDigest.isEqual(said, expected(secret))) { // takes as long wherever they differ
      throw wrong();
    }
    return said;
  }

  private static Refusal.Refused wrong() {
    return Refusal.of(401, "BAD_SIGNATURE", "the signature is not that of this request");
  }

  private byte[] expected(String secret) {
    try {
      String digest =
          HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body.get()));
      Mac mac = Mac.getInstance(MAC);
      mac.init(new SecretKeySpec(secret.getBytes(UTF_8), MAC));
      return mac.doFinal("%s|%s|%s|%s".formatted(method, path, digest, time).getBytes(UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // every Java has both
    }
  }
}
