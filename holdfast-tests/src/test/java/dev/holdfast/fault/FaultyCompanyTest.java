package dev.holdfast.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.queue.Jobs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Enqueues of many threads that travel together, and every fault that can meet them there. */
class FaultyCompanyTest {

  private static final int THREADS = 8;
  private static final List<Fault> FAULTS =
      Stream.of(Fault.values()).filter(fault -> fault != Fault.TOO_MANY_CONNECTIONS).toList();
  private static final List<Moment> MOMENTS = List.of(Moment.values());
  private static final int ENOUGH = 2 * MOMENTS.size() * FAULTS.size();

  private final AtomicInteger hit = new AtomicInteger();
  private int lastHit = -1; // guarded by the pool's lock
  private final ConcurrentLinkedQueue<String> stored = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Exception> failed = new ConcurrentLinkedQueue<>();

  @Test
  void whoever_travelled_with_the_unlucky_is_stored_once_all_the_same() throws Exception {
    try (Ground ground = new Ground();
        FaultyPool pool = FaultyPool.forEverybody(Ground.url())) {
      ground.empty();
      Jobs jobs = ground.holdfast(pool.dataSource()).jobs(ground.tenant());
      pool.play(this::inCompany);

      List<Thread> threads = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        threads.add(Thread.ofPlatform().start(() -> enqueue(jobs)));
      }
      for (Thread thread : threads) {
        thread.join();
      }

      pool.heal();
      assertThat(failed).isEmpty();
      assertThat(stored).doesNotHaveDuplicates();
      assertThat(ground.column("SELECT id::text FROM {schema}.job"))
          .containsExactlyInAnyOrderElementsOf(stored);
      assertThat(pool.complaints()).isEmpty();
      while (pool.lent() > 0) {
        Thread.onSpinWait(); // the last announcement is made by a thread of its own
      }
    }
  }

  private void enqueue(Jobs jobs) {
    while (hit.get() < ENOUGH) {
      try {
        stored.add(jobs.enqueue(NewJob.of("email", Map.of())).id().toString());
      } catch (RuntimeException e) {
        failed.add(e);
        return;
      }
    }
  }

  // Each before the server has heard of it, then each after it was done.
  private Optional<Fault> inCompany(int number, Point point, Moment moment) {
    int next = hit.get();
    boolean hits =
        point.sql().contains("unnest(")
            && number != lastHit
            && next < ENOUGH
            && moment == MOMENTS.get(next / FAULTS.size() % MOMENTS.size());
    if (!hits) {
      return Optional.empty();
    }
    lastHit = number;
    hit.incrementAndGet();
    return Optional.of(FAULTS.get(next % FAULTS.size()));
  }
}
