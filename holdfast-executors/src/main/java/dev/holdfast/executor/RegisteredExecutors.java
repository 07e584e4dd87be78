package dev.holdfast.executor;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Outcome;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.RegisteredKinds;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Runs jobs of registered kinds with the executors of this process. Thread-safe. */
final class RegisteredExecutors implements RegisteredKinds {

  private static final Duration ASK_AGAIN = Duration.ofSeconds(5);

  private final Map<String, KindExecutor> byName;
  private final KindCatalog catalog;

  RegisteredExecutors(Map<String, KindExecutor> byName, KindCatalog catalog) {
    this.byName = byName;
    this.catalog = catalog;
  }

  @Override
  public Set<String> all() {
    return catalog.kinds(byName.keySet());
  }

  @Override
  public Set<String> of(String tenant) {
    return catalog.executors(tenant).entrySet().stream()
        .filter(kind -> byName.containsKey(kind.getValue()))
        .map(Map.Entry::getKey)
        .collect(Collectors.toUnmodifiableSet());
  }

  @Override
  public Outcome run(@Nullable Object args, JobContext job) throws InterruptedException {
    KindExecutor executor = byName.get(catalog.executors(job.tenant()).get(job.kind()));
    if (executor == null) {
      return Outcome.snoozed(ASK_AGAIN); // the kind was changed after the claim
    }
    Runbook book;
    try {
      book = catalog.runbook(job);
    } catch (HoldfastException e) {
      if (e.code() == ErrorCode.UNAVAILABLE || e.code() == ErrorCode.DATABASE) {
        return Outcome.snoozed(ASK_AGAIN); // nothing has begun, so no attempt is spent
      }
      if (e.code() == ErrorCode.STATE_CONFLICT) {
        return Outcome.failed(Failure.permanent("KIND_CHANGED", String.valueOf(e.getMessage())));
      }
      throw e;
    }
    if (book.executor().filter(now -> !now.equals(executor.name())).isPresent()) {
      return Outcome.snoozed(ASK_AGAIN); // this node's view of the kind is outdated
    }
    return executor.run(args, book, job);
  }
}
