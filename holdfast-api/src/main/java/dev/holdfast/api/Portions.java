package dev.holdfast.api;

import dev.holdfast.job.Limits;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * Sends many items in as few requests as the server allows.
 *
 * @param alike the key that the items of one request have in common
 * @param chars about how many characters an item has
 */
record Portions<T, K>(Function<T, K> alike, ToIntFunction<T> chars) {

  private static final int MOST = Limits.CLAIM_JOBS;

  // A quarter of what a server accepts, because a character may need three bytes, and the last item
  // goes beyond the limit.
  private static final int MOST_CHARS = 4 << 20;

  /**
   * Returns answers in the order of {@code all}; {@code ask} returns them in the order of its
   * portion.
   */
  <R> List<R> ask(List<T> all, BiFunction<K, List<T>, List<R>> ask) {
    Map<Integer, R> answers = new TreeMap<>();
    groups(all)
        .forEach((what, places) -> {
          for (List<Integer> portion : split(all, places)) {
            List<R> some = ask.apply(what, portion.stream().map(all::get).toList());
            for (int i = 0; i < portion.size(); i++) {
              answers.put(portion.get(i), some.get(i));
            }
          }
        });
    return List.copyOf(answers.values());
  }

  private Map<K, List<Integer>> groups(List<T> all) {
    Map<K, List<Integer>> groups = new LinkedHashMap<>();
    for (int place = 0; place < all.size(); place++) {
      groups.computeIfAbsent(alike.apply(all.get(place)), what -> new ArrayList<>()).add(place);
    }
    return groups;
  }

  private List<List<Integer>> split(List<T> all, List<Integer> places) {
    List<List<Integer>> portions = new ArrayList<>();
    List<Integer> portion = new ArrayList<>();
    long sum = 0;
    for (int place : places) {
      if (portion.size() == MOST || sum > MOST_CHARS) {
        portions.add(portion);
        portion = new ArrayList<>();
        sum = 0;
      }
      portion.add(place);
      sum += chars.applyAsInt(all.get(place));
    }
    portions.add(portion);
    return portions;
  }
}
