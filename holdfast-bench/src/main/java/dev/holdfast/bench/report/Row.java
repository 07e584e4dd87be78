package dev.holdfast.bench.report;

import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.contender.Role;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.DoubleStream;

/** One figure of all contenders that have it. */
public record Row(String name, Map<Contender, Series> series) {

  /** The workload's number, with which every row's name begins. */
  public String workload() {
    return name.substring(0, name.indexOf(' '));
  }

  /** Empty for raw itself, and where raw has no such figure. */
  public OptionalDouble ofRaw(Contender contender) {
    if (contender.role() == Role.LIMIT) {
      return OptionalDouble.empty();
    }
    return ratio(contender, medians(Role.LIMIT).findFirst());
  }

  /** Empty for raw, which is not in the race, and where no peer has such a figure. */
  public OptionalDouble ofBestPeer(Contender contender) {
    if (contender.role() == Role.LIMIT) {
      return OptionalDouble.empty();
    }
    boolean moreIsBetter = series.values().iterator().next().moreIsBetter();
    DoubleStream peers = medians(Role.PEER);
    return ratio(contender, moreIsBetter ? peers.max() : peers.min());
  }

  /** Whether some contender was given fewer jobs than others. */
  boolean hasDifferentSizes() {
    return series.values().stream().map(Series::jobs).distinct().count() > 1;
  }

  private DoubleStream medians(Role role) {
    return series.entrySet().stream()
        .filter(entry -> entry.getKey().role() == role)
        .mapToDouble(entry -> entry.getValue().median());
  }

  private OptionalDouble ratio(Contender contender, OptionalDouble base) {
    Series figures = series.get(contender);
    if (figures == null || base.isEmpty() || base.getAsDouble() == 0) {
      return OptionalDouble.empty();
    }
    return OptionalDouble.of(figures.median() / base.getAsDouble());
  }
}
