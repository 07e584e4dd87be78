package dev.holdfast.server.poll;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Does together what many ask for at once: whatever gathered while the last was done. One of those
 * who wait does it for all of them, so a thousand take one connection and not all there are.
 * Thread-safe.
 *
 * @param <Q> what is asked
 * @param <A> what is answered
 */
public final class Gathering<Q, A> {

  /** Answers in the order asked. */
  public interface Work<Q, A> {
    List<A> doAll(List<Q> asked);
  }

  private final int most;
  private final ToIntFunction<Q> weight;
  private final Queue<Asked> waiting = new ConcurrentLinkedQueue<>();
  private final ReentrantLock lock = new ReentrantLock();

  /** So many at once. */
  public Gathering(int most) {
    this(most, question -> 1);
  }

  /** At once as many as weigh so much together. */
  public Gathering(int most, ToIntFunction<Q> weight) {
    this.most = most;
    this.weight = weight;
  }

  /** Whoever does it for others does it in their own way: all must mean the same by it. */
  public A ask(Q question, Work<Q, A> work) {
    Asked asked = new Asked(question);
    waiting.add(asked);
    lock.lock();
    try {
      while (!asked.done) { // unless somebody did it meanwhile
        doAll(next(), work);
      }
    } finally {
      lock.unlock();
    }
    return asked.answer();
  }

  private List<Asked> next() {
    List<Asked> batch = new ArrayList<>();
    int together = 0;
    for (Asked asked = waiting.peek();
        asked != null && (batch.isEmpty() || together + weight.applyAsInt(asked.question) <= most);
        asked = waiting.peek()) {
      batch.add(waiting.remove());
      together += weight.applyAsInt(asked.question);
    }
    return batch;
  }

  private void doAll(List<Asked> batch, Work<Q, A> work) {
    try {
      List<A> answers = work.doAll(batch.stream().map(asked -> asked.question).toList());
      for (int i = 0; i < batch.size(); i++) {
        batch.get(i).answer = answers.get(i);
      }
    } catch (RuntimeException e) {
      batch.forEach(asked -> asked.failure = e);
    } finally {
      batch.forEach(asked -> asked.done = true);
    }
  }

  /** What one asks, and what became of it. Written and read under the lock. */
  private final class Asked {
    private final Q question;
    private boolean done;
    private @Nullable A answer;
    private @Nullable RuntimeException failure;

    private Asked(Q question) {
      this.question = question;
    }

    private A answer() {
      if (failure != null) {
        throw failure;
      }
      if (answer == null) {
        throw new IllegalStateException("nobody answered " + question);
      }
      return answer;
    }
  }
}
