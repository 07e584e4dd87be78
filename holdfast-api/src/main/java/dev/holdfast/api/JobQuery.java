package dev.holdfast.api;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobState;
import dev.holdfast.queue.JobFilter;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A {@link JobFilter} as parameters of a query or fields of an object. */
public final class JobQuery {

  /** The names of all parameters. */
  public static final List<String> NAMES =
      List.of("state", "queue", "kind", "target", "resource", "tag", "worker", "error");

  private JobQuery() {}

  public static JobFilter read(Function<String, Optional<String>> said) {
    return new JobFilter(
        said.apply("state").map(JobQuery::states).orElse(Set.of()),
        said.apply("queue"),
        said.apply("kind"),
        said.apply("target"),
        said.apply("resource"),
        said.apply("tag"),
        said.apply("worker"),
        said.apply("error"));
  }

  private static Set<JobState> states(String names) {
    Set<JobState> states = EnumSet.noneOf(JobState.class);
    for (String name : names.split(",", -1)) {
      states.add(
          Arrays.stream(JobState.values())
              .filter(state -> state.stored().equals(name))
              .findFirst()
              .orElseThrow(() ->
                  HoldfastException.invalid(
                      "state",
                      name,
                      Arrays.stream(JobState.values()).map(JobState::stored).toList().toString())));
    }
    return states;
  }

  /** Writes a filter as {@link #read} reads it. */
  static Map<String, String> write(JobFilter filter) {
    Map<String, String> said = new LinkedHashMap<>();
    if (!filter.states().isEmpty()) {
      said.put(
          "state",
          filter.states().stream().map(JobState::stored).sorted().collect(Collectors.joining(",")));
    }
    filter.queue().ifPresent(name -> said.put("queue", name));
    filter.kind().ifPresent(name -> said.put("kind", name));
    filter.target().ifPresent(name -> said.put("target", name));
    filter.resource().ifPresent(name -> said.put("resource", name));
    filter.tag().ifPresent(name -> said.put("tag", name));
    filter.worker().ifPresent(name -> said.put("worker", name));
    filter.errorText().ifPresent(text -> said.put("error", text));
    return said;
  }
}
