package dev.holdfast.cli;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Guesses what a mistyped word was meant to be. */
final class Nearest {

  private Nearest() {}

  /** The known word with the fewest typing errors, if there are few enough. */
  static Optional<String> to(String typed, Collection<String> known) {
    int most = Math.max(1, typed.length() / 3);
    return known.stream()
        .filter(each -> slips(typed, each) <= most)
        .min(
            Comparator.comparingInt((String each) -> slips(typed, each))
                .thenComparing(each -> each));
  }

  /** " Did you mean …?", or nothing. */
  static String hint(String typed, Collection<String> known) {
    return to(typed, known).map(" Did you mean %s?"::formatted).orElse("");
  }

  // The number of letters that are missing, superfluous, different or swapped.
  private static int slips(String typed, String meant) {
    String a = typed.toLowerCase(Locale.ROOT);
    String b = meant.toLowerCase(Locale.ROOT);
    int[][] cost = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        cost[i][j] = i == 0 || j == 0 ? i + j : cheapest(a, b, cost, i, j);
      }
    }
    return cost[a.length()][b.length()];
  }

  private static int cheapest(String a, String b, int[][] cost, int i, int j) {
    int other = cost[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
    int least = Math.min(other, Math.min(cost[i - 1][j], cost[i][j - 1]) + 1);
    boolean swapped =
        i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
    return swapped ? Math.min(least, cost[i - 2][j - 2] + 1) : least;
  }
}
