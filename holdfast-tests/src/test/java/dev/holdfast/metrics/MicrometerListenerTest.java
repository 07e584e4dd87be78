package dev.holdfast.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Kind;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class MicrometerListenerTest {

  static final Kind<Integer> COUNT = Kind.of("count", Integer.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void attempts_and_recorded_ends_are_counted_by_queue_and_kind() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    Worker worker =
        tenant
            .worker()
            .listen(new MicrometerListener(registry))
            .handle(
                COUNT,
                (n, job) -> {
                  if (n == 2) {
                    throw new IllegalStateException("two");
                  }
                })
            .build();
    for (int n = 1; n <= 3; n++) {
      tenant.jobs().enqueue(COUNT.job(n));
    }

    worker.runDue();

    assertThat(
            registry
                .get("holdfast.attempt")
                .tags("queue", "default", "kind", "count", "outcome", "succeeded")
                .timer()
                .count())
        .isEqualTo(2);
    assertThat(registry.get("holdfast.finished").tag("state", "queued").counter().count())
        .isEqualTo(1);
    assertThat(registry.get("holdfast.finished").tag("state", "succeeded").counter().count())
        .isEqualTo(2);
  }
}
