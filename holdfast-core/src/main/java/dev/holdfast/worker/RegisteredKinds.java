package dev.holdfast.worker;

import dev.holdfast.job.Outcome;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Kinds that a worker was not built with: those that people register while it runs, each tenant its
 * own. A handler that it was built with goes first. Thread-safe; asked before every claim, so it
 * answers from what it knows already.
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

  /** Those of all tenants. */
  Set<String> all();

  /** Those of one. */
  Set<String> of(String tenant);

  /** Runs a job of such a kind. */
  Outcome run(@Nullable Object args, JobContext job) throws Exception;
}
