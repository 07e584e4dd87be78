package dev.holdfast.loop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Lets one of many threads that ask at the same time do the work for all of them. While it works,
 * other threads' questions gather, and the next turn takes them along. So a thousand threads take
 * one connection and not all there are. A thread that comes alone does not wait, and no thread
 * returns before its question is answered.
 *
 * <p>A turn that takes too long, for example because its connection does not answer any more, does
 * not hold up threads that come later: the next turn begins all the same. And the threads whose
 * questions it took along can leave it, if their work may be done twice and counts once.
 *
 * <p>Thread-safe.
 *
 * @param <Q> the question
 * @param <A> the answer
 */
public final class Batcher<Q, A> {

  // Longer than a busy disk takes, as a rule: a thread that leaves does its work alone, which costs
  // more.
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  /** Does the work for all questions or for none; returns answers in the order of the questions. */
  @FunctionalInterface
  public interface Work<Q, A> {
    List<A> on(List<Q> all);
  }

  /** One thread's right to do the work for all. */
  public interface Turn<Q> {

    /**
     * The questions that have gathered by now, this thread's own first; empty when another turn has
     * taken that one. Called once, and late: until then more questions can gather.
     */
    List<Q> take();

    /** Whether threads whose questions were taken along may have left by now. */
    boolean isLate();
  }

  private final int most;
  private final ToIntFunction<Q> weight;
  private final long patienceNanos;
  private final Queue<Asked> gathered = new ConcurrentLinkedQueue<>();
  private final AtomicReference<OpenTurn> last;

  /** Takes at most so many questions at once. */
  public Batcher(int most) {
    this(most, question -> 1, PATIENCE);
  }

  /** Takes at once as many questions as weigh no more than {@code most} together. */
  public Batcher(int most, ToIntFunction<Q> weight) {
    this(most, weight, PATIENCE);
  }

  Batcher(int most, ToIntFunction<Q> weight, Duration patience) {
    this.most = most;
    this.weight = weight;
    this.patienceNanos = patience.toNanos();
    this.last = new AtomicReference<>(new OpenTurn());
    last.get().isOver = true;
  }

  /**
   * Asks, and waits for the answer. A thread may do the work for others with its own {@code work},
   * so all threads must pass equivalent work.
   */
  public A ask(Q question, Work<Q, A> work) {
    Asked mine = new Asked(question);
    await(
        mine,
        turn -> {
          List<Q> all = turn.take();
          return all.isEmpty() ? List.of() : work.on(all);
        },
        false);
    return mine.answer();
  }

  /**
   * The same for work that may be done twice and counts once.
   *
   * @param alone gets the answer without the others, after it failed with them or took too long
   */
  public A ask(Q question, Function<Turn<Q>, List<A>> work, Supplier<A> alone) {
    Asked mine = new Asked(question);
    await(mine, work, true);
    return mine.isOver && !mine.failedWithOthers ? mine.answer() : alone.get();
  }

  // Not cut short by an interrupt: work that is under way counts.
  private void await(Asked mine, Function<Turn<Q>, List<A>> work, boolean mayLeave) {
    gathered.add(mine);
    boolean interrupted = false;
    while (!mine.isOver && !(mayLeave && mine.isLeftWaiting())) {
      if (!mine.takesTurn(work)) {
        LockSupport.parkNanos(this, patienceNanos); // the thread at work wakes us at its end
        interrupted |= Thread.interrupted();
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** A thread's question, and what became of it. */
  private final class Asked {
    private final Q question;
    private final Thread thread = Thread.currentThread();
    private volatile @Nullable OpenTurn takenBy;
    private volatile boolean isOver; // publishes the fields below
    private @Nullable A answer;
    private @Nullable RuntimeException failure;
    private boolean failedWithOthers;

    private Asked(Q question) {
      this.question = question;
    }

    /** Takes a turn, if none is under way and no turn has taken this question; else false. */
    private boolean takesTurn(Function<Turn<Q>, List<A>> work) {
      OpenTurn before = last.get();
      if (takenBy != null || !(before.isOver || before.isLate())) {
        return false;
      }
      OpenTurn own = new OpenTurn(this);
      if (last.compareAndSet(before, own)) {
        own.go(work);
      }
      return true;
    }

    private boolean isLeftWaiting() {
      OpenTurn turn = takenBy;
      return turn != null && turn.isLate();
    }

    private void end() {
      isOver = true;
      LockSupport.unpark(thread);
    }

    private A answer() {
      if (failure != null) {
        throw failure;
      }
      return Objects.requireNonNull(answer, "nobody answered");
    }
  }

  /** One turn. Only its own thread takes and ends; others look whether it is over, or late. */
  private final class OpenTurn implements Turn<Q> {
    private final List<Asked> taken = new ArrayList<>();
    private final @Nullable Asked own;
    private volatile long sinceNanos = System.nanoTime();
    private volatile boolean isOver;

    private OpenTurn() {
      this.own = null;
    }

    private OpenTurn(Asked own) {
      this.own = own;
    }

    @Override
    public boolean isLate() {
      return System.nanoTime() - sinceNanos > patienceNanos;
    }

    @Override
    public List<Q> take() {
      sinceNanos = System.nanoTime();
      if (own != null && takes(own)) {
        int together = weight.applyAsInt(own.question);
        for (Asked next = gathered.peek(); next != null; next = gathered.peek()) {
          together += weight.applyAsInt(next.question);
          if (together > most) {
            break;
          }
          takes(next);
        }
      }
      return taken.stream().map(asked -> asked.question).toList();
    }

    // A turn that is late and the one begun after it may take the same question; one of them gets
    // it.
    private boolean takes(Asked asked) {
      boolean isOurs = gathered.remove(asked);
      if (isOurs) {
        asked.takenBy = this;
        taken.add(asked);
      }
      return isOurs;
    }

    private void go(Function<Turn<Q>, List<A>> work) {
      try {
        List<A> answers = work.apply(this);
        for (int i = 0; i < taken.size(); i++) {
          taken.get(i).answer = answers.get(i);
        }
      } catch (RuntimeException e) {
        fail(e);
      } catch (Error e) { // the waiting threads must hear of it, too
        fail(new IllegalStateException(e));
      } finally {
        taken.forEach(Asked::end);
        isOver = true;
        Asked next = gathered.peek();
        if (next != null) {
          LockSupport.unpark(next.thread);
        }
      }
    }

    private void fail(RuntimeException e) {
      if (taken.isEmpty() && own != null) {
        takes(own); // it failed before any question was taken
      }
      for (Asked asked : taken) {
        asked.failure = e;
        asked.failedWithOthers = taken.size() > 1;
      }
    }
  }
}
