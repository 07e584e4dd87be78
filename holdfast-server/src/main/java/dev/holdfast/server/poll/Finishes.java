package dev.holdfast.server.poll;

import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.lease.RemoteLeases.End;
import dev.holdfast.server.tenancy.Desk;
import dev.holdfast.tenant.TenantName;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Records what many workers say at once together: whatever gathered while the last was written. One
 * writes, for all of a tenant who wait, so a thousand workers take one connection and not all of
 * them. Thread-safe.
 */
public final class Finishes {

  private static final int MOST_ENDS = 500;

  private final Map<TenantName, Gathering> gatherings = new ConcurrentHashMap<>();

  /** Answers in the order given, once all of them are recorded. */
  public List<FinishReply> finish(Desk desk, List<End> ends) {
    Said said = new Said(ends);
    gatherings.computeIfAbsent(desk.tenant().name(), name -> new Gathering()).record(desk, said);
    return said.answer();
  }

  /** What one request says, and what became of it. Written and read under the gathering's lock. */
  private static final class Said {
    private final List<End> ends;
    private List<FinishReply> replies = List.of();
    private boolean done;
    private @Nullable RuntimeException failure;

    private Said(List<End> ends) {
      this.ends = ends;
    }

    private List<FinishReply> answer() {
      if (failure != null) {
        throw failure;
      }
      return replies;
    }
  }

  private static final class Gathering {
    private final Queue<Said> waiting = new ConcurrentLinkedQueue<>();
    private final ReentrantLock lock = new ReentrantLock();

    void record(Desk desk, Said said) {
      waiting.add(said);
      lock.lock();
      try {
        while (!said.done) { // unless somebody wrote it meanwhile
          write(desk.leases(), next());
        }
      } finally {
        lock.unlock();
      }
    }

    private List<Said> next() {
      List<Said> batch = new ArrayList<>();
      int ends = 0;
      for (Said said = waiting.peek();
          said != null && (batch.isEmpty() || ends + said.ends.size() <= MOST_ENDS);
          said = waiting.peek()) {
        batch.add(waiting.remove());
        ends += said.ends.size();
      }
      return batch;
    }

    private static void write(RemoteLeases leases, List<Said> batch) {
      try {
        List<FinishReply> replies =
            leases.finish(batch.stream().flatMap(said -> said.ends.stream()).toList());
        int from = 0;
        for (Said said : batch) {
          said.replies = replies.subList(from, from + said.ends.size());
          from += said.ends.size();
        }
      } catch (RuntimeException e) {
        batch.forEach(said -> said.failure = e);
      } finally {
        batch.forEach(said -> said.done = true);
      }
    }
  }
}
