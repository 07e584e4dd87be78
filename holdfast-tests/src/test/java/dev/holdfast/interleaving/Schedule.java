package dev.holdfast.interleaving;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Whose statement comes next, again and again. A schedule is tried by its beginning; where that
 * ends, whoever went last goes on as long as it can.
 */
record Schedule(List<Integer> choices) {

  static final Schedule ANY = new Schedule(List.of());

  /** One choice: who could have gone, who did, and who had gone before. */
  record Choice(List<Integer> enabled, int chosen, int last, String statement) {

    boolean isPreemption(int actor) {
      return actor != last && enabled.contains(last);
    }
  }

  /** Those that differ from what was played in one choice after this schedule's own. */
  List<Variation> variations(List<Choice> played) {
    List<Variation> found = new ArrayList<>();
    int preemptions = 0;
    for (int i = 0; i < played.size(); i++) {
      Choice choice = played.get(i);
      if (i >= choices.size()) {
        for (int other : choice.enabled) {
          if (other != choice.chosen) {
            List<Integer> changed =
                played.subList(0, i).stream()
                    .map(Choice::chosen)
                    .collect(Collectors.toCollection(ArrayList::new));
            changed.add(other);
            int cost = choice.isPreemption(other) ? 1 : 0;
            found.add(new Variation(new Schedule(changed), preemptions + cost));
          }
        }
      }
      preemptions += choice.isPreemption(choice.chosen) ? 1 : 0;
    }
    return found;
  }

  /** A schedule, and how often it interrupts somebody who could have gone on. */
  record Variation(Schedule schedule, int preemptions) {}
}
