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
import org.junit.jupiter.api.Test;

/**
 * Enqueues of many threads that travel together, and a connection that is lost with all of them.
 */
class FaultyCompanyTest {

  private static final int THREADS = 8;
  private static final int ENOUGH = 6;

  private final AtomicInteger hit = new AtomicInteger();
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

  // Half of them before the server has heard of it, half after it was done.
  private Optional<Fault> inCompany(int number, Point point, Moment moment) {
    boolean hits =
        point.sql().contains("unnest(")
            && (moment == Moment.BEFORE) == (number % 2 == 0)
            && hit.get() < ENOUGH;
    if (hits) {
      hit.incrementAndGet();
    }
    return hits ? Optional.of(Fault.CONNECTION_LOST) : Optional.empty();
  }
}
