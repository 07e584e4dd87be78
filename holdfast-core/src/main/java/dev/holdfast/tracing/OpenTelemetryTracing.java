package dev.holdfast.tracing;

import dev.holdfast.job.Failure;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.TraceContext;
import dev.holdfast.worker.JobContext;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Traces jobs with OpenTelemetry, whose API is an optional dependency. A job remembers the span
 * that was current when it was enqueued; each of its attempts is a span below it, current while the
 * handler runs. Thread-safe.
 */
public final class OpenTelemetryTracing implements Tracing {

  private static final String PARENT = "traceparent";
  private static final String STATE = "tracestate";

  private final Tracer tracer;

  public OpenTelemetryTracing(OpenTelemetry telemetry) {
    this.tracer = telemetry.getTracer("dev.holdfast");
  }

  @Override
  public Optional<TraceContext> current() {
    Map<String, String> said = new HashMap<>();
    W3CTraceContextPropagator.getInstance()
        .inject(Context.current(), said, (carrier, name, value) -> said.put(name, value));
    return TraceContext.ofHeaders(
        Optional.ofNullable(said.get(PARENT)), Optional.ofNullable(said.get(STATE)));
  }

  @Override
  public Outcome around(JobContext job, Next next) throws Exception {
    Span span =
        tracer
            .spanBuilder(job.kind())
            .setParent(job.trace().map(OpenTelemetryTracing::parent).orElseGet(Context::root))
            .setSpanKind(SpanKind.CONSUMER)
            .setAttribute("holdfast.job", job.jobId().toString())
            .setAttribute("holdfast.tenant", job.tenant())
            .setAttribute("holdfast.kind", job.kind())
            .setAttribute("holdfast.queue", job.queue())
            .setAttribute("holdfast.attempt", (long) job.attempt())
            .startSpan();
    try (Scope current = span.makeCurrent()) {
      Outcome outcome = next.proceed();
      tell(span, outcome);
      return outcome;
    } catch (Throwable thrown) { // as the worker sees it: an attempt that failed or was stopped
      span.recordException(thrown).setStatus(StatusCode.ERROR);
      span.setAttribute("holdfast.outcome", "failed");
      throw thrown;
    } finally {
      span.end();
    }
  }

  private static Context parent(TraceContext trace) {
    Map<String, String> said = new HashMap<>();
    said.put(PARENT, trace.parent());
    trace.state().ifPresent(state -> said.put(STATE, state));
    return W3CTraceContextPropagator.getInstance().extract(Context.root(), said, FROM_MAP);
  }

  private static void tell(Span span, Outcome outcome) {
    switch (outcome) {
      case Outcome.Succeeded succeeded -> span.setAttribute("holdfast.outcome", "succeeded");
      case Outcome.Failed(Failure failure) -> {
        span.setAttribute("holdfast.outcome", "failed");
        span.setStatus(StatusCode.ERROR, failure.code());
      }
      case Outcome.Snoozed snoozed -> span.setAttribute("holdfast.outcome", "snoozed");
      case Outcome.Stopped stopped -> span.setAttribute("holdfast.outcome", "stopped");
      case Outcome.Released released -> span.setAttribute("holdfast.outcome", "released");
      case Outcome.LeaseExpired expired -> span.setAttribute("holdfast.outcome", "lost");
      case Outcome.NeverStarted never -> span.setAttribute("holdfast.outcome", "never_started");
    }
  }

  private static final TextMapGetter<Map<String, String>> FROM_MAP =
      new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(Map<String, String> said) {
          return List.copyOf(said.keySet());
        }

        @Override
        public @Nullable String get(@Nullable Map<String, String> said, String name) {
          return said == null ? null : said.get(name);
        }
      };
}
