package dev.holdfast.executor;

/** Keeps the end of a long text. Not thread-safe. */
final class Tail {

  private final int maxChars;
  private final StringBuilder text = new StringBuilder();

  Tail(int maxChars) {
    this.maxChars = maxChars;
  }

  void add(String more) {
    text.append(more);
    if (text.length() > 2 * maxChars) { // not each time, because it moves the text
      text.delete(0, text.length() - maxChars);
    }
  }

  /** The last characters, at most this many, without half of a surrogate pair. */
  String last(int chars) {
    int from = Math.max(0, text.length() - Math.min(chars, maxChars));
    if (from < text.length() && Character.isLowSurrogate(text.charAt(from))) {
      from++;
    }
    return text.substring(from);
  }
}
