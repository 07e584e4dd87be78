package dev.holdfast.bench;

import dev.holdfast.bench.workload.Drain;
import dev.holdfast.bench.workload.Enqueue;
import dev.holdfast.bench.workload.Latency;
import dev.holdfast.bench.workload.Workload;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The workloads by the names that the performance document gives them. */
final class Workloads {

  private Workloads() {}

  private static Map<String, Workload> all() {
    Map<String, Workload> all = new LinkedHashMap<>();
    all.put("W1", new Drain());
    all.put("W2", new Enqueue());
    all.put("W3", new Latency());
    return all;
  }

  /** All when no name is given. */
  static Map<String, Workload> named(List<String> names) {
    Map<String, Workload> all = all();
    if (names.isEmpty()) {
      return all;
    }
    Map<String, Workload> chosen = new LinkedHashMap<>();
    for (String name : names) {
      Workload workload = all.get(name.toUpperCase(Locale.ROOT));
      if (workload == null) {
        throw new IllegalArgumentException("no workload " + name + " among " + all.keySet());
      }
      chosen.put(name.toUpperCase(Locale.ROOT), workload);
    }
    return chosen;
  }
}
