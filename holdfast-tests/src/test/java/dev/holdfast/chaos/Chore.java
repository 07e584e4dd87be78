package dev.holdfast.chaos;

import dev.holdfast.job.Kind;
import java.util.List;

/**
 * What a chaos job is told.
 *
 * @param resources what it holds, to be told to the ledger; its target is among them
 * @param millis how long it works
 * @param failures fails in its first so many attempts
 * @param stubborn goes on to its effect when it is told to stop
 */
record Chore(List<String> resources, int millis, int failures, boolean stubborn) {

  static final Kind<Chore> KIND = Kind.of("chore", Chore.class);
}
