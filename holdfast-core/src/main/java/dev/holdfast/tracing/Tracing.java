package dev.holdfast.tracing;

import dev.holdfast.job.Outcome;
import dev.holdfast.job.TraceContext;
import dev.holdfast.worker.Interceptor;
import dev.holdfast.worker.JobContext;
import java.util.Optional;

/** How jobs continue the traces of those who enqueue them. Thread-safe. */
public interface Tracing extends Interceptor {

  /** Nobody traces. A job's trace is kept, and given to whoever runs it, all the same. */
  Tracing NONE =
      new Tracing() {
        @Override
        public Optional<TraceContext> current() {
          return Optional.empty();
        }

        @Override
        public Outcome around(JobContext context, Next next) throws Exception {
          return next.proceed();
        }
      };

  /** The trace that a job enqueued by this thread, now, belongs to. */
  Optional<TraceContext> current();
}
