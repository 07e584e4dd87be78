package dev.holdfast.executor;

/** The end of a long text. Not thread-safe. */
final class Tail {

  private final int maxChars;
  private final StringBuilder text = new StringBuilder();

  Tail(int maxChars) {
    this.maxChars = maxChars;
  }

  void add(String more) {
    text.append(more);
    if (text.length() > 2 * maxChars) { // not each time: it moves all that is kept
      text.delete(0, text.length() - maxChars);
    }
  }

  /** The last characters, at most so many, and no half ones. */
  String last(int chars) {
    int from = Math.max(0, text.length() - Math.min(chars, maxChars));
    if (from < text.length() && Character.isLowSurrogate(text.charAt(from))) {
      from++;
    }
    return text.substring(from);
  }
}
