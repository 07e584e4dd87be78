package dev.holdfast.spring;

import dev.holdfast.Holdfast;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Holdfast's health, where the application tells its own. */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean({Holdfast.class, HoldfastProperties.class})
@ConditionalOnEnabledHealthIndicator("holdfast")
public final class HoldfastHealthAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(name = "holdfastHealthIndicator")
  HoldfastHealth holdfastHealthIndicator(
      Holdfast holdfast, HoldfastProperties properties, ObjectProvider<HoldfastWorker> worker) {
    return new HoldfastHealth(holdfast, properties.tenantName(), worker.getIfAvailable());
  }
}
