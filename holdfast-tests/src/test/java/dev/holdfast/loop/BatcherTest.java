package dev.holdfast.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.loop.Batcher.Turn;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BatcherTest {

  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration SHORT = Duration.ofMillis(20);

  private final List<List<String>> done = new CopyOnWriteArrayList<>();
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final Map<String, String> answers = new ConcurrentHashMap<>();
  private final List<Thread> threads = new CopyOnWriteArrayList<>();

  @AfterEach
  void end() throws InterruptedException {
    goOn.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
  }

  @Test
  void whoever_comes_alone_is_served_alone_and_at_once() {
    Batcher<String, String> together = new Batcher<>(10);

    assertThat(together.ask("a", this::served)).isEqualTo("a served");
    assertThat(together.ask("b", this::served)).isEqualTo("b served");

    assertThat(done).containsExactly(List.of("a"), List.of("b"));
  }

  @Test
  void those_who_come_while_one_is_at_it_are_served_together_by_the_next() throws Exception {
    gather(patient(10), "b", "c", "d");

    assertThat(done).hasSize(2);
    assertThat(done.getFirst()).containsExactly("first");
    assertThat(done.getLast()).containsExactlyInAnyOrder("b", "c", "d");
    assertThat(answers).containsEntry("c", "c served").hasSize(4);
  }

  @Test
  void no_more_go_together_than_weigh_what_is_allowed_but_everybody_goes() throws Exception {
    gather(new Batcher<>(6, String::length, LONG), "heavier than all", "bb", "ccc", "dd", "e");

    assertThat(done.stream().filter(all -> all.size() > 1))
        .allSatisfy(
            all -> assertThat(all.stream().mapToInt(String::length).sum()).isLessThanOrEqualTo(6));
    assertThat(answers).hasSize(6);
  }

  @Test
  void whoever_comes_before_it_begins_comes_along() throws Exception {
    Batcher<String, String> together = patient(10);
    ask("first", () -> together.ask("first", this::servedWhenReady, () -> "alone"));
    begun.await();
    awaitWaiting(ask("b", () -> together.ask("b", this::servedWhenReady, () -> "alone")));
    goOn.countDown();
    end();

    assertThat(done).containsExactly(List.of("first", "b"));
  }

  @Test
  void of_a_failure_all_hear_who_cannot_do_without_the_others() throws Exception {
    Batcher<String, String> together = patient(10);
    gather(together, "b", "bad");

    assertThat(answers).containsEntry("first", "first served");
    assertThat(answers).containsEntry("b", "failed: bad").containsEntry("bad", "failed: bad");
  }

  @Test
  void who_can_do_without_the_others_does_so_after_a_failure_in_company() throws Exception {
    Batcher<String, String> together = patient(10);
    gatherLeaving(together, "b", "bad");

    assertThat(answers).containsEntry("first", "first served");
    assertThat(answers).containsEntry("b", "alone").containsEntry("bad", "alone");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> together.ask("bad", this::servedAll, () -> "alone"));
  }

  @Test
  void what_fails_before_anybody_was_taken_along_fails_for_the_one_at_it_alone() {
    Batcher<String, String> together = patient(10);

    assertThatThrownBy(() ->
            together.ask(
                "a",
                turn -> {
                  throw new IllegalStateException("no connection");
                },
                () -> "alone"))
        .hasMessage("no connection");

    assertThat(together.ask("b", this::served)).isEqualTo("b served");
    assertThat(done).containsExactly(List.of("b"));
  }

  @Test
  void an_error_of_the_one_at_it_leaves_nobody_waiting() throws Exception {
    gather(patient(10), "b", "fatal");

    assertThat(answers).containsEntry("b", "failed: java.lang.AssertionError: fatal");
  }

  @Test
  void whoever_takes_too_long_keeps_nobody_who_comes_later() throws Exception {
    Batcher<String, String> together = new Batcher<>(10, question -> 1, SHORT);
    Thread first = ask("first", () -> together.ask("first", this::served));
    begun.await();

    assertThat(together.ask("b", this::served)).isEqualTo("b served");
    assertThat(together.ask("c", this::served)).isEqualTo("c served");

    assertThat(first.isAlive()).isTrue();
    end();
    assertThat(answers).containsEntry("first", "first served");
  }

  @Test
  void whom_one_who_takes_too_long_took_along_can_go_alone() throws Exception {
    Batcher<String, String> together = new Batcher<>(10, question -> 1, Duration.ofSeconds(2));
    Function<Turn<String>, List<String>> slow =
        turn -> {
          awaitWaiting(ask("b", () -> together.ask("b", this::servedAll, () -> "alone")));
          List<String> all = turn.take();
          await(goOn);
          assertThat(turn.isLate()).isTrue();
          return all.stream().map(each -> each + " served").toList();
        };
    Thread first = ask("first", () -> together.ask("first", slow, () -> "alone"));

    while (!answers.containsKey("b")) {
      LockSupport.parkNanos(1_000_000);
    }

    assertThat(answers).containsEntry("b", "alone");
    assertThat(first.isAlive()).isTrue();
    end();
    assertThat(answers).containsEntry("first", "first served");
  }

  @Test
  void who_is_interrupted_waits_for_what_is_under_way_and_stays_interrupted() throws Exception {
    Batcher<String, String> together = patient(10);
    CountDownLatch stillInterrupted = new CountDownLatch(1);
    ask("first", () -> together.ask("first", this::served));
    begun.await();
    Thread second =
        ask(
            "b",
            () -> {
              String answer = together.ask("b", this::served);
              if (Thread.currentThread().isInterrupted()) {
                stillInterrupted.countDown();
              }
              return answer;
            });
    awaitWaiting(second);

    second.interrupt();
    awaitWaiting(second);
    end();

    assertThat(answers).containsEntry("b", "b served");
    assertThat(stillInterrupted.getCount()).isZero();
  }

  private static Batcher<String, String> patient(int most) {
    return new Batcher<>(most, question -> 1, LONG);
  }

  /** The first one waits within its work until it is told to go on. */
  private List<String> served(List<String> all) {
    if (all.contains("first")) {
      begun.countDown();
      await(goOn);
    }
    if (all.contains("bad")) {
      throw new IllegalArgumentException("bad");
    }
    if (all.contains("fatal")) {
      throw new AssertionError("fatal");
    }
    done.add(all);
    return all.stream().map(each -> each + " served").toList();
  }

  private List<String> servedAll(Turn<String> turn) {
    return served(turn.take());
  }

  /** The first one waits before it begins. */
  private List<String> servedWhenReady(Turn<String> turn) {
    begun.countDown();
    await(goOn);
    return servedAll(turn);
  }

  private void gather(Batcher<String, String> together, String... others)
      throws InterruptedException {
    gather(wanted -> together.ask(wanted, this::served), others);
  }

  private void gatherLeaving(Batcher<String, String> together, String... others)
      throws InterruptedException {
    gather(wanted -> together.ask(wanted, this::servedAll, () -> "alone"), others);
  }

  private void gather(Function<String, String> asking, String... others)
      throws InterruptedException {
    ask("first", () -> asking.apply("first"));
    begun.await();
    for (String other : others) {
      awaitWaiting(ask(other, () -> asking.apply(other)));
    }
    end();
  }

  private interface Asking {
    String ask();
  }

  private Thread ask(String wanted, Asking asking) {
    Thread thread =
        Thread.ofPlatform()
            .start(() -> {
              try {
                answers.put(wanted, asking.ask());
              } catch (RuntimeException e) {
                answers.put(wanted, "failed: " + e.getMessage());
              }
            });
    threads.add(thread);
    return thread;
  }

  private static void awaitWaiting(Thread thread) {
    while (thread.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
