package dev.holdfast.spring;

import dev.holdfast.metrics.MicrometerListener;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** The worker's meters, where the application measures with Micrometer. */
@AutoConfiguration(
    after = HoldfastAutoConfiguration.class,
    afterName =
        "org.springframework.boot.micrometer.metrics.autoconfigure."
            + "CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass(MeterRegistry.class)
public final class HoldfastMetricsAutoConfiguration {

  @Bean
  @ConditionalOnBean(HoldfastWorker.class)
  @ConditionalOnMissingBean
  @ConditionalOnSingleCandidate(MeterRegistry.class)
  MicrometerListener holdfastMeters(MeterRegistry registry) {
    return new MicrometerListener(registry);
  }
}
