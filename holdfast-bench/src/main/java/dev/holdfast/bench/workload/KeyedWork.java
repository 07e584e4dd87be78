package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.Work;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;

/** Jobs that take a while, and notice when another one with the same key runs. Thread-safe. */
final class KeyedWork implements Work {

  private final CountedWork counted;
  private final IntFunction<List<String>> keysOf;
  private final Duration handler;
  private final Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
  private final LongAdder overlaps = new LongAdder();

  KeyedWork(CountedWork counted, IntFunction<List<String>> keysOf, Duration handler) {
    this.counted = counted;
    this.keysOf = keysOf;
    this.handler = handler;
  }

  @Override
  public void run(int number) {
    List<String> keys = keysOf.apply(number);
    for (String key : keys) {
      if (running(key).incrementAndGet() > 1) {
        overlaps.increment();
      }
    }
    counted.run(number);
    sleep();
    keys.forEach(key -> running(key).decrementAndGet());
  }

  @Override
  public void claimed(int jobs, Duration took) {
    counted.claimed(jobs, took);
  }

  @Override
  public void finished(int jobs) {
    counted.finished(jobs);
  }

  void checkNoneOverlapped() {
    if (overlaps.sum() > 0) {
      throw new IllegalStateException(overlaps + " times two jobs of one key ran at once");
    }
  }

  private AtomicInteger running(String key) {
    return running.computeIfAbsent(key, name -> new AtomicInteger());
  }

  private void sleep() {
    try {
      Thread.sleep(handler);
    } catch (InterruptedException e) {
      throw new IllegalStateException("a job was interrupted, its lease is lost", e);
    }
  }
}
