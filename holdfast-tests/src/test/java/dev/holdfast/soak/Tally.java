package dev.holdfast.soak;

import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;

/** How often what was really done. Thread-safe. */
final class Tally {

  private final Map<Feature, LongAdder> counts = new ConcurrentHashMap<>();
  private final LongAdder unanswered = new LongAdder();
  private final Queue<String> missed = new ConcurrentLinkedQueue<>();
  private final Queue<String> surprises = new ConcurrentLinkedQueue<>();

  void count(Feature what) {
    count(what, 1);
  }

  void count(Feature what, long times) {
    counts.computeIfAbsent(what, unused -> new LongAdder()).add(times);
  }

  /** Refused by a server that comes and goes, or asked of it when it was just gone. */
  void unanswered() {
    unanswered.increment();
  }

  /** The server that lasts gave no answer in time. */
  void missed(Feature what, RuntimeException e) {
    missed.add(what + ": " + e);
  }

  /** Nobody may answer like this, at whatever time. */
  void surprise(Feature what, RuntimeException e) {
    surprises.add(what + ": " + e);
  }

  Map<Feature, Long> counts() {
    Map<Feature, Long> sorted = new TreeMap<>();
    counts.forEach((what, count) -> sorted.put(what, count.sum()));
    return sorted;
  }

  long unansweredCount() {
    return unanswered.sum();
  }

  Queue<String> missed() {
    return missed;
  }

  Queue<String> surprises() {
    return surprises;
  }
}
