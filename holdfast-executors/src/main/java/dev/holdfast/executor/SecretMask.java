package dev.holdfast.executor;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * Replaces secrets in a stream of text. Text that may be the beginning of a secret is held back
 * until more arrives. Not thread-safe.
 */
final class SecretMask {

  static final String MASK = "***";

  private final List<String> secrets;
  private final StringBuilder held = new StringBuilder();

  /**
   * Each line of a secret with several lines, such as a key, is masked by itself, because logs
   * consist of lines.
   */
  SecretMask(Collection<String> values) {
    this.secrets =
        values.stream()
            .flatMap(String::lines)
            .filter(line -> !line.isBlank())
            .distinct()
            .sorted(Comparator.comparingInt(String::length).reversed()) // the longest match wins
            .toList();
  }

  /** Masks a whole text. */
  static String mask(Collection<String> secrets, String text) {
    SecretMask mask = new SecretMask(secrets);
    return mask.next(text) + mask.last();
  }

  /** The text that can be passed on by now. */
  String next(String text) {
    return secrets.isEmpty() ? text : advance(text, false);
  }

  /** The rest of the text, when nothing more will come. */
  String last() {
    return advance("", true);
  }

  private String advance(String text, boolean isLast) {
    held.append(text);
    StringBuilder told = new StringBuilder(held.length());
    int at = 0;
    while (at < held.length() && (isLast || !mayGrowIntoSecret(at))) {
      int length = secretLengthAt(at);
      if (length > 0) {
        told.append(MASK);
        at += length;
      } else {
        told.append(held.charAt(at));
        at++;
      }
    }
    held.delete(0, at);
    return told.toString();
  }

  private boolean mayGrowIntoSecret(int at) {
    int rest = held.length() - at;
    for (String secret : secrets) {
      if (secret.length() <= rest) {
        return false; // the ones after it are not longer
      }
      if (isAt(at, secret, rest)) {
        return true;
      }
    }
    return false;
  }

  private int secretLengthAt(int at) {
    for (String secret : secrets) {
      if (secret.length() <= held.length() - at && isAt(at, secret, secret.length())) {
        return secret.length();
      }
    }
    return 0;
  }

  private boolean isAt(int at, String secret, int length) {
    for (int i = 0; i < length; i++) {
      if (held.charAt(at + i) != secret.charAt(i)) {
        return false;
      }
    }
    return true;
  }
}
