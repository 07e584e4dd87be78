package dev.holdfast.model;

/**
 * What a sequence is thought up from.
 *
 * @param ofTheFirst by the generator of the first version, which knew jobs and resources alone
 */
record Seed(long number, boolean ofTheFirst) {

  private static final String FIRST = "first:";

  static Seed of(long number) {
    return new Seed(number, false);
  }

  /** As it is kept in a file. */
  static Seed read(String text) {
    return text.startsWith(FIRST)
        ? new Seed(Long.parseLong(text.substring(FIRST.length())), true)
        : of(Long.parseLong(text));
  }

  Generator generator() {
    return ofTheFirst ? Generator.ofTheFirst(number) : Generator.of(number);
  }

  @Override
  public String toString() {
    return (ofTheFirst ? FIRST : "") + number;
  }
}
