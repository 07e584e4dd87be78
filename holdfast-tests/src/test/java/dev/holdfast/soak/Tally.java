package dev.holdfast.soak;

import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;

/** How often what was really done. Thread-safe. */
final class Tally {

  private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
  private final Queue<String> surprises = new ConcurrentLinkedQueue<>();

  void count(String what) {
    counts.computeIfAbsent(what, unused -> new LongAdder()).increment();
  }

  /** Nobody may answer like this, at whatever time. */
  void surprise(String what, RuntimeException e) {
    surprises.add(what + ": " + e);
  }

  Map<String, Long> counts() {
    Map<String, Long> sorted = new TreeMap<>();
    counts.forEach((what, count) -> sorted.put(what, count.sum()));
    return sorted;
  }

  Queue<String> surprises() {
    return surprises;
  }
}
