package dev.holdfast.tracing;

import dev.holdfast.job.Outcome;
import dev.holdfast.job.TraceContext;
import dev.holdfast.worker.Interceptor;
import dev.holdfast.worker.JobContext;
import java.util.Optional;

/** Lets jobs continue the traces in which they were enqueued. Thread-safe. */
public interface Tracing extends Interceptor {

  /** No tracing. A job's trace is still stored, and given to its handler. */
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
