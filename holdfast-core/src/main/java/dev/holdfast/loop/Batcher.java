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
 * What many threads ask for at the same time, done by one of them for all: while it is at it,
 * others gather, and the next takes them along. So a thousand take one connection and not all there
 * are. Whoever comes alone does not wait, and nobody returns before what it asked for is done.
 *
 * <p>Whoever takes too long at it, say because nobody answers on its connection any more, keeps
 * nobody who comes later: the next begins all the same. And those that it took along can leave it,
 * if what they asked for may be done twice and counts once.
 *
 * <p>Thread-safe.
 *
 * @param <Q> what is asked
 * @param <A> what is answered
 */
public final class Batcher<Q, A> {

  // Longer than a busy disk takes, as a rule: who leaves has to go alone, which costs more.
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  /** Does it for all of them or for none; answers in the order asked. */
  @FunctionalInterface
  public interface Work<Q, A> {
    List<A> on(List<Q> all);
  }

  /** One's right to do it for all. */
  public interface Turn<Q> {

    /**
     * Whoever has gathered by now, the one at it first; nobody, when another was faster. To be
     * called once, and late: until then more can come along.
     */
    List<Q> take();

    /** Those that were taken along may have left by now. */
    boolean isLate();
  }

  private final int most;
  private final ToIntFunction<Q> weight;
  private final long patienceNanos;
  private final Queue<Asked> gathered = new ConcurrentLinkedQueue<>();
  private final AtomicReference<Going> last;

  /** So many at once. */
  public Batcher(int most) {
    this(most, question -> 1, PATIENCE);
  }

  /** At once as many as weigh so much together. */
  public Batcher(int most, ToIntFunction<Q> weight) {
    this(most, weight, PATIENCE);
  }

  Batcher(int most, ToIntFunction<Q> weight, Duration patience) {
    this.most = most;
    this.weight = weight;
    this.patienceNanos = patience.toNanos();
    this.last = new AtomicReference<>(new Going());
    last.get().isOver = true;
  }

  /** Whoever does it for others does it in their own way: all must mean the same by it. */
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
   * The same for what may be done twice and counts once.
   *
   * @param alone how to get it without the others, after it failed with them or took too long
   */
  public A ask(Q question, Function<Turn<Q>, List<A>> work, Supplier<A> alone) {
    Asked mine = new Asked(question);
    await(mine, work, true);
    return mine.isOver && !mine.failedInCompany ? mine.answer() : alone.get();
  }

  // Interrupted or not: what is under way counts.
  private void await(Asked mine, Function<Turn<Q>, List<A>> work, boolean mayLeave) {
    gathered.add(mine);
    boolean interrupted = false;
    while (!mine.isOver && !(mayLeave && mine.isLeftWaiting())) {
      if (!mine.goesOn(work)) {
        LockSupport.parkNanos(this, patienceNanos); // whoever is at it wakes us when it is done
        interrupted |= Thread.interrupted();
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** What one asks, and what became of it. */
  private final class Asked {
    private final Q question;
    private final Thread thread = Thread.currentThread();
    private volatile @Nullable Going takenBy;
    private volatile boolean isOver; // publishes what follows
    private @Nullable A answer;
    private @Nullable RuntimeException failure;
    private boolean failedInCompany;

    private Asked(Q question) {
      this.question = question;
    }

    /** Takes a turn, if it is free and somebody has not taken this one along. */
    private boolean goesOn(Function<Turn<Q>, List<A>> work) {
      Going before = last.get();
      if (takenBy != null || !(before.isOver || before.isLate())) {
        return false;
      }
      Going own = new Going(this);
      if (last.compareAndSet(before, own)) {
        own.go(work);
      }
      return true;
    }

    private boolean isLeftWaiting() {
      Going going = takenBy;
      return going != null && going.isLate();
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

  /** One turn. Its thread alone takes and ends; others look whether it is over, or late. */
  private final class Going implements Turn<Q> {
    private final List<Asked> company = new ArrayList<>();
    private final @Nullable Asked own;
    private volatile long sinceNanos = System.nanoTime();
    private volatile boolean isOver;

    private Going() {
      this.own = null;
    }

    private Going(Asked own) {
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
      return company.stream().map(asked -> asked.question).toList();
    }

    // Another, whom we are too late for or who is too late for us, may be at the same.
    private boolean takes(Asked asked) {
      boolean isOurs = gathered.remove(asked);
      if (isOurs) {
        asked.takenBy = this;
        company.add(asked);
      }
      return isOurs;
    }

    private void go(Function<Turn<Q>, List<A>> work) {
      try {
        List<A> answers = work.apply(this);
        for (int i = 0; i < company.size(); i++) {
          company.get(i).answer = answers.get(i);
        }
      } catch (RuntimeException e) {
        fail(e);
      } catch (Error e) { // those who wait must hear of it, too
        fail(new IllegalStateException(e));
      } finally {
        company.forEach(Asked::end);
        isOver = true;
        Asked next = gathered.peek();
        if (next != null) {
          LockSupport.unpark(next.thread);
        }
      }
    }

    private void fail(RuntimeException e) {
      if (company.isEmpty() && own != null) {
        takes(own); // it came to nothing before anybody could be taken along
      }
      for (Asked asked : company) {
        asked.failure = e;
        asked.failedInCompany = company.size() > 1;
      }
    }
  }
}
