package dev.holdfast.worker;

import dev.holdfast.job.Outcome;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Kinds that are registered while a worker runs, by each tenant for itself. A handler that the
 * worker was built with takes precedence. Thread-safe; asked before every claim, so it answers from
 * memory.
 */
public interface RegisteredKinds {

  RegisteredKinds NONE =
      new RegisteredKinds() {
        @Override
        public Set<String> all() {
          return Set.of();
        }

        @Override
        public Set<String> of(String tenant) {
          return Set.of();
        }

        @Override
        public Outcome run(@Nullable Object args, JobContext job) {
          throw new IllegalStateException("no kind " + job.kind());
        }
      };

  /** The registered kinds of all tenants. */
  Set<String> all();

  /** The registered kinds of one tenant. */
  Set<String> of(String tenant);

  /** Runs a job of a registered kind. */
  Outcome run(@Nullable Object args, JobContext job) throws Exception;
}
