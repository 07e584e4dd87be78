package dev.holdfast.lease;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;

/** Halves a batch that fails, to find the entries that make it fail; the others succeed. */
public final class Halving {

  private Halving() {}

  /**
   * The answers to a batch, in its order.
   *
   * @param isOfEntry whether a failure may be due to single entries; any other is thrown
   * @param alone the answer for an entry that fails by itself
   */
  public static <T, A> List<A> of(
      List<T> batch,
      Function<List<T>, List<A>> work,
      Predicate<RuntimeException> isOfEntry,
      BiFunction<T, RuntimeException, A> alone) {
    try {
      return work.apply(batch);
    } catch (RuntimeException e) {
      if (!isOfEntry.test(e)) {
        throw e;
      }
      if (batch.size() == 1) {
        return List.of(alone.apply(batch.getFirst(), e));
      }
      int half = batch.size() / 2;
      List<A> answers = new ArrayList<>(of(batch.subList(0, half), work, isOfEntry, alone));
      answers.addAll(of(batch.subList(half, batch.size()), work, isOfEntry, alone));
      return answers;
    }
  }
}
