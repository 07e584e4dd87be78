package dev.holdfast.tracing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.TraceContext;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.JobContext;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;

/** A job continues the trace of whoever enqueued it, whatever runs it. */
class TracingTest {

  private static final String PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  private static final Kind<Integer> COUNT = Kind.of("count", Integer.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final List<SpanData> spans = new CopyOnWriteArrayList<>();
  private final SdkTracerProvider provider =
      SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(collector())).build();
  private final Tracer tracer = provider.get("test");
  private final Holdfast holdfast =
      Holdfast.builder(TestDatabase.shared().dataSource())
          .tracing(new OpenTelemetryTracing(telemetry()))
          .build();

  @Test
  void each_attempt_is_a_span_below_the_one_that_enqueued_it() {
    Span request = tracer.spanBuilder("request").startSpan();
    UUID id;
    try (Scope current = request.makeCurrent()) {
      id = holdfast.jobs(tenant.name()).enqueue(COUNT.job(1)).id();
    }
    AtomicReference<String> inside = new AtomicReference<>("");
    holdfast
        .worker(tenant.name())
        .handleWithOutcome(
            COUNT,
            (n, job) -> {
              inside.set(Span.current().getSpanContext().getSpanId());
              return Outcome.failed(Failure.retryable("NO_LUCK", "not today"));
            })
        .build()
        .runDue();

    SpanData span = spans.getFirst();
    assertThat(span.getTraceId()).isEqualTo(request.getSpanContext().getTraceId());
    assertThat(span.getParentSpanId()).isEqualTo(request.getSpanContext().getSpanId());
    assertThat(span.getSpanId()).isEqualTo(inside.get());
    assertThat(span.getName()).isEqualTo("count");
    assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(attribute(span, "holdfast.job")).isEqualTo(id.toString());
    assertThat(attribute(span, "holdfast.outcome")).isEqualTo("failed");
    assertThat(attribute(span, "holdfast.queue")).isEqualTo("default");
    assertThat(span.getAttributes().get(AttributeKey.longKey("holdfast.attempt"))).isEqualTo(1);
  }

  @Test
  void a_job_without_a_trace_begins_one_of_its_own() {
    tenant.jobs().enqueue(COUNT.job(1));

    holdfast.worker(tenant.name()).handle(COUNT, (n, job) -> {}).build().runDue();

    assertThat(spans.getFirst().getParentSpanContext().isValid()).isFalse();
    assertThat(attribute(spans.getFirst(), "holdfast.outcome")).isEqualTo("succeeded");
    assertThat(tenant.query("SELECT policy FROM {schema}.job_done"))
        .as("what is stored of a job without a trace")
        .containsExactly(java.util.Collections.singletonMap("policy", null));
  }

  @Test
  void what_fails_with_an_exception_has_it_in_its_span() {
    tenant.jobs().enqueue(COUNT.job(1));

    holdfast
        .worker(tenant.name())
        .handle(
            COUNT,
            (n, job) -> {
              throw new IllegalStateException("boom");
            })
        .build()
        .runDue();

    assertThat(spans.getFirst().getEvents().getFirst().getName()).isEqualTo("exception");
  }

  @Test
  void handlers_commands_and_logs_know_the_trace_without_anybody_who_traces() {
    tenant.jobs().enqueue(COUNT.job(1).withTrace(new TraceContext(PARENT, Optional.of("a=b"))));
    UUID command =
        tenant
            .jobs()
            .enqueue(
                NewJob.of("process", Map.of("argv", List.of("printenv", "TRACEPARENT")))
                    .withTrace(new TraceContext(PARENT, Optional.empty())))
            .id();
    AtomicReference<Optional<TraceContext>> seen = new AtomicReference<>(Optional.empty());
    AtomicReference<String> logged = new AtomicReference<>("");
    try (JobExecutors executors = JobExecutors.open(Set.of("process"), ExecutorConfig.DEFAULTS)) {
      executors
          .installOn(tenant.worker())
          .handle(
              COUNT,
              (Integer n, JobContext job) -> {
                seen.set(job.trace());
                logged.set(String.valueOf(MDC.get("trace")));
              })
          .build()
          .runDue();
    }

    assertThat(seen.get()).contains(new TraceContext(PARENT, Optional.of("a=b")));
    assertThat(logged).hasValue("4bf92f3577b34da6a3ce929d0e0e4736");
    assertThat(tenant.jobs().log(command)).containsExactly(PARENT);
    assertThat(MDC.get("trace")).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n"
      })
  void what_is_no_trace_is_ignored_in_headers_and_refused_by_name_elsewhere(String parent) {
    assertThat(TraceContext.ofHeaders(Optional.of(parent), Optional.empty())).isEmpty();
    assertThatThrownBy(() -> new TraceContext(parent, Optional.empty()))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("traceparent");
  }

  private static String attribute(SpanData span, String name) {
    return String.valueOf(span.getAttributes().get(AttributeKey.stringKey(name)));
  }

  private OpenTelemetry telemetry() {
    return new OpenTelemetry() {
      @Override
      public TracerProvider getTracerProvider() {
        return provider;
      }

      @Override
      public ContextPropagators getPropagators() {
        return ContextPropagators.noop();
      }
    };
  }

  private SpanExporter collector() {
    return new SpanExporter() {
      @Override
      public CompletableResultCode export(Collection<SpanData> ended) {
        spans.addAll(ended);
        return CompletableResultCode.ofSuccess();
      }

      @Override
      public CompletableResultCode flush() {
        return CompletableResultCode.ofSuccess();
      }

      @Override
      public CompletableResultCode shutdown() {
        return CompletableResultCode.ofSuccess();
      }
    };
  }
}
