package dev.holdfast.queue;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.job.PolicyOverrides;
import java.util.Optional;

/**
 * How a queue treats its jobs. A queue without settings of its own has {@link #DEFAULTS}.
 *
 * @param concurrencyLimit how many jobs of the queue may run at once, over all workers; empty is no
 *     limit
 * @param defaults the policy of jobs that do not set their own; applies to jobs already enqueued,
 *     too
 */
public record QueueSettings(
    boolean paused, Optional<Integer> concurrencyLimit, PolicyOverrides defaults) {

  public static final QueueSettings DEFAULTS =
      new QueueSettings(false, Optional.empty(), PolicyOverrides.NONE);

  public QueueSettings {
    concurrencyLimit.ifPresent(limit -> Limits.positive("concurrency_limit", limit));
    defaults
        .trace()
        .ifPresent(trace -> {
          throw HoldfastException.invalid(
              "traceparent", trace.parent(), "none: the jobs of a queue are not one trace");
        });
  }

  public QueueSettings withPaused(boolean paused) {
    return new QueueSettings(paused, concurrencyLimit, defaults);
  }

  public QueueSettings withConcurrencyLimit(int limit) {
    return new QueueSettings(paused, Optional.of(limit), defaults);
  }

  public QueueSettings withDefaults(PolicyOverrides defaults) {
    return new QueueSettings(paused, concurrencyLimit, defaults);
  }
}
