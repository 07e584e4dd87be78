package dev.holdfast.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.queue.Together.Failure;
import dev.holdfast.testkit.TestTenant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TogetherTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final List<List<String>> done = new CopyOnWriteArrayList<>();
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final Map<String, Optional<Failure>> answers = new ConcurrentHashMap<>();

  @Test
  void whoever_comes_alone_is_served_alone_and_at_once() {
    Together<String> together = together(all -> {});

    assertThat(together.run("a")).isEmpty();
    assertThat(together.run("b")).isEmpty();

    assertThat(done).containsExactly(List.of("a"), List.of("b"));
  }

  @Test
  void those_who_come_while_one_is_at_it_are_served_together_by_the_next() throws Exception {
    gather(together(all -> {}), "b", "c", "d");

    assertThat(done).hasSize(2);
    assertThat(done.getFirst()).containsExactly("first");
    assertThat(done.getLast()).containsExactlyInAnyOrder("b", "c", "d");
    assertThat(answers.values()).containsOnly(Optional.empty());
  }

  @Test
  void of_a_failure_all_hear_and_whether_it_may_be_anothers() throws Exception {
    Together<String> together =
        together(all -> {
          if (all.contains("bad")) {
            throw new IllegalArgumentException("bad");
          }
        });
    gather(together, "b", "bad");

    assertThat(answers.get("first")).isEmpty();
    assertThat(answers.get("b")).get().extracting(Failure::inCompany).isEqualTo(true);
    assertThat(answers.get("bad")).get().extracting(Failure::inCompany).isEqualTo(true);
    assertThat(together.run("bad")).get().extracting(Failure::inCompany).isEqualTo(false);
    assertThat(done).containsExactly(List.of("first"));
  }

  @Test
  void who_is_interrupted_waits_for_what_is_under_way_and_stays_interrupted() throws Exception {
    Together<String> together = together(all -> {});
    CountDownLatch stillInterrupted = new CountDownLatch(1);
    Thread first = Thread.ofPlatform().start(() -> answer(together, "first"));
    begun.await();
    Thread second =
        Thread.ofPlatform()
            .start(() -> {
              answer(together, "b");
              if (Thread.currentThread().isInterrupted()) {
                stillInterrupted.countDown();
              }
            });
    awaitParked(second);

    second.interrupt();
    awaitParked(second);
    goOn.countDown();
    first.join();
    second.join();

    assertThat(answers.get("b")).isEmpty();
    assertThat(stillInterrupted.getCount()).isZero();
  }

  @Test
  void jobs_of_many_threads_are_all_there_when_their_enqueue_returns_and_a_bad_one_alone_fails()
      throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<HoldfastException> refused = new CopyOnWriteArrayList<>();
    List<String> missing = new CopyOnWriteArrayList<>();
    for (int thread = 0; thread < 8; thread++) {
      int number = thread;
      threads.add(
          Thread.ofVirtual()
              .start(() -> {
                for (int job = 0; job < 25; job++) {
                  // Java takes it for text, PostgreSQL for none that it could store.
                  String args = number == 3 && job == 12 ? "{\"n\": 1" : "{\"n\": 1}";
                  try {
                    Enqueued enqueued =
                        tenant.jobs().enqueue(NewJob.of("email", new Payload(args)));
                    if (tenant.jobs().get(enqueued.id()).isEmpty()) {
                      missing.add(enqueued.id().toString());
                    }
                  } catch (HoldfastException e) {
                    refused.add(e);
                  }
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(missing).isEmpty();
    assertThat(refused).singleElement().satisfies(e -> assertThat(e).hasMessageContaining("JSON"));
    assertThat(tenant.query("SELECT count(*) AS jobs FROM {schema}.job"))
        .containsExactly(Map.of("jobs", 8L * 25 - 1));
  }

  /** The first one waits within its work until it is told to go on. */
  private Together<String> together(Consumer<List<String>> work) {
    return new Together<>(all -> {
      if (all.contains("first")) {
        begun.countDown();
        goOn.await();
      }
      work.accept(all);
      done.add(all);
    });
  }

  private void gather(Together<String> together, String... others) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    threads.add(Thread.ofPlatform().start(() -> answer(together, "first")));
    begun.await();
    for (String other : others) {
      Thread thread = Thread.ofPlatform().start(() -> answer(together, other));
      threads.add(thread);
      awaitParked(thread);
    }
    goOn.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void answer(Together<String> together, String wanted) {
    answers.put(wanted, together.run(wanted));
  }

  private static void awaitParked(Thread thread) {
    while (thread.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
  }
}
