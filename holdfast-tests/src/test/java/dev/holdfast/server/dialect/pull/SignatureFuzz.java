package dev.holdfast.server.dialect.pull;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.fuzz.FuzzTarget;
import dev.holdfast.server.http.Refusal;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signed requests: one is accepted if, and only if, its signature was made of exactly its method,
 * path, body and time, under this secret, and the time is within five minutes of now.
 */
public final class SignatureFuzz implements FuzzTarget {

  private static final String SECRET = "a secret of two dozen letters";
  private static final long NOW = 1_794_906_000L;
  private static final int PARTS = 5;

  /** As it is sent; the last line stands for a signature that is right. */
  private record Sent(String method, String path, String time, String sign, String body) {

    Sent signed() {
      return new Sent(method, path, time, expected(this, SECRET), body);
    }
  }

  public static void fuzzerTestOneInput(byte[] data) {
    FuzzTarget.run(new SignatureFuzz(), data);
  }

  @Override
  public List<String> seeds() {
    String zeros = "0".repeat(64);
    return List.of(
        "GET\n/api/pull_job\n1794906000\n" + zeros + "\n",
        "POST\n/api/report_results\n1794905700\n" + zeros + "\n{\"job_id\": \"x\"}",
        "POST\n/t/a/api/report_results\n1794906300\n" + zeros.replace('0', 'A') + "\n|\n|",
        "POST\n/api/report_results.php\n1794906301\n\n",
        "GET|/a\n/b\n999999999999\n" + zeros + "\nx",
        "GET\n/\n-1\n" + "g".repeat(64) + "\n",
        "GET\n/\n\u0661\u0667\u0669\u0664\u0669\u0660\u0666\u0660\u0660\u0660\n" + zeros + "\n",
        "");
  }

  @Override
  public void read(String text) {
    String[] parts = Arrays.copyOf(text.split("\n", PARTS), PARTS);
    for (int i = 0; i < PARTS; i++) {
      parts[i] = parts[i] == null ? "" : parts[i];
    }
    Sent sent = new Sent(parts[0], parts[1], parts[2], parts[3], parts[4]);
    boolean isTime = sent.time.matches("[0-9]{1,12}");
    boolean inTime = isTime && Math.abs(Long.parseLong(sent.time) - NOW) <= 300;

    FuzzTarget.check(
        accepted(sent)
            == (inTime && sent.sign.toLowerCase(Locale.ROOT).equals(expected(sent, SECRET))),
        "what was sent is judged by what it is: " + text);
    Sent right = sent.signed();
    FuzzTarget.check(accepted(right) == inTime, "a right one is accepted in time: " + text);
    for (Sent other : others(right)) {
      FuzzTarget.check(!accepted(other), "of another request: " + other + " as " + right);
    }
    Sent forged =
        new Sent(sent.method, sent.path, sent.time, expected(sent, SECRET + "x"), sent.body);
    FuzzTarget.check(!accepted(forged), "under another secret: " + text);
  }

  /** The same signature with something else, a letter more or one moved over. */
  private static List<Sent> others(Sent sent) {
    String later = sent.time.matches("[0-9]{1,12}") ? "" + (Long.parseLong(sent.time) + 1) : "1";
    char first = sent.sign.charAt(0);
    String flipped = (first == '0' ? '1' : '0') + sent.sign.substring(1);
    return List.of(
        new Sent(sent.method + "X", sent.path, sent.time, sent.sign, sent.body),
        new Sent(sent.method, sent.path + "/", sent.time, sent.sign, sent.body),
        new Sent(sent.method, sent.path, later, sent.sign, sent.body),
        new Sent(sent.method, sent.path, "0" + sent.time, sent.sign, sent.body),
        new Sent(sent.method, sent.path, sent.time, sent.sign, sent.body + " "),
        new Sent(sent.method, sent.path, sent.time, flipped, sent.body),
        new Sent(sent.method, sent.path, sent.time, sent.sign.substring(2), sent.body),
        new Sent(sent.method, sent.path, sent.time, sent.sign + "00", sent.body));
  }

  private static boolean accepted(Sent sent) {
    try {
      new SignedRequest(
              sent.method, sent.path, () -> sent.body.getBytes(UTF_8), sent.time, sent.sign)
          .check(SECRET, Instant.ofEpochSecond(NOW));
      return true;
    } catch (Refusal.Refused e) {
      FuzzTarget.check(
          e.refusal().status() == 401 && e.refusal().code().equals("BAD_SIGNATURE"),
          "a refusal says what is wrong");
      return false;
    }
  }

  // Written from docs/dialects.md, and with nothing of what it is to judge.
  private static String expected(Sent sent, String secret) {
    try {
      HexFormat hex = HexFormat.of();
      byte[] body = sent.body.getBytes(UTF_8);
      String digest = hex.formatHex(MessageDigest.getInstance("SHA-256").digest(body));
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
      String text = String.join("|", sent.method, sent.path, digest, sent.time);
      return hex.formatHex(mac.doFinal(text.getBytes(UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }
}
