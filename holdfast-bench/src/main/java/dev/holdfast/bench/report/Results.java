package dev.holdfast.bench.report;

import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.measure.Finding;
import dev.holdfast.bench.measure.NotApplicable;
import dev.holdfast.bench.measure.Sample;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Everything found so far, by row and contender, in the order in which it came first. */
public final class Results {

  private final Map<String, Map<Contender, List<Sample>>> rows = new LinkedHashMap<>();
  private final Map<NotApplicable, Set<String>> absent = new LinkedHashMap<>();

  public void add(Contender contender, Finding finding) {
    switch (finding) {
      case Sample sample ->
          rows.computeIfAbsent(sample.row(), row -> new LinkedHashMap<>())
              .computeIfAbsent(contender, name -> new ArrayList<>())
              .add(sample);
      case NotApplicable missing ->
          absent.computeIfAbsent(missing, row -> new LinkedHashSet<>()).add(contender.name());
    }
  }

  public List<Row> rows() {
    List<Row> all = new ArrayList<>();
    rows.forEach((name, byContender) -> {
      Map<Contender, Series> series = new LinkedHashMap<>();
      byContender.forEach((contender, samples) -> series.put(contender, new Series(samples)));
      all.add(new Row(name, series));
    });
    return all;
  }

  /** The names of those who have no such figure, by the figure and why. */
  Map<NotApplicable, Set<String>> absent() {
    return absent;
  }
}
