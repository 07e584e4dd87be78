package dev.holdfast.examples.dailybrief;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The words of a title that say something: those of three letters and more. */
record Words(Set<String> words) {

  private static final Pattern BETWEEN = Pattern.compile("[^\\p{L}\\p{N}]+");
  private static final int FEWEST_LETTERS = 3;

  static Words of(String title) {
    return new Words(
        BETWEEN
            .splitAsStream(title.toLowerCase(Locale.ROOT))
            .filter(word -> word.length() >= FEWEST_LETTERS)
            .collect(Collectors.toUnmodifiableSet()));
  }

  /** By Jaccard: what they share as a part of all they have, 0 to 1. */
  double likeness(Words other) {
    long shared = words.stream().filter(other.words::contains).count();
    long all = words.size() + other.words.size() - shared;
    return all == 0 ? 0 : (double) shared / all;
  }
}
