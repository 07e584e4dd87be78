package dev.holdfast.spring;

import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastBuilder;
import dev.holdfast.codec.Codec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.retention.Retention;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tracing.Tracing;
import dev.holdfast.worker.WorkerListener;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/** Holdfast on the application's DataSource, and a worker for the application's handlers. */
@AutoConfiguration(after = DataSourceAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "holdfast.enabled", matchIfMissing = true)
@EnableConfigurationProperties(HoldfastProperties.class)
@Import(DatabaseInitializationDependencyConfigurer.class)
public final class HoldfastAutoConfiguration {

  private static final Logger log = LoggerFactory.getLogger(HoldfastAutoConfiguration.class);

  /**
   * Both or neither: who makes a Holdfast knows its DataSource, and has to give the same one to a
   * {@link TransactionalJobs}.
   */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnMissingBean(Holdfast.class)
  @ConditionalOnSingleCandidate(DataSource.class)
  static final class OnTheDataSource {

    /**
     * After Flyway, Liquibase and scripts: hooks and schedules may need the application's tables.
     */
    @Bean
    @DependsOnDatabaseInitialization
    Holdfast holdfast(
        DataSource dataSource,
        HoldfastProperties properties,
        ObjectProvider<Codec> codec,
        ObjectProvider<TransitionHook> hook,
        ObjectProvider<Tracing> tracing,
        ObjectProvider<Retention> retention,
        ObjectProvider<HoldfastCustomizer> customizers) {
      DataSource pool = ProxiedPool.of(dataSource).pool();
      HoldfastBuilder builder = Holdfast.builder(pool).controlSchema(properties.schema());
      codec.ifAvailable(builder::codec);
      hook.ifAvailable(builder::onTransition);
      tracing.ifAvailable(builder::tracing);
      retention.ifAvailable(builder::retention);
      customizers.orderedStream().forEach(each -> each.customize(builder));
      Holdfast holdfast = builder.build();
      if (properties.migrate()) {
        requirePostgres(pool);
        holdfast.tenants().migrate();
        Tenant unused = holdfast.tenants().create(properties.tenantName());
      }
      return holdfast;
    }

    @Bean
    @ConditionalOnMissingBean
    TransactionalJobs transactionalJobs(
        Holdfast holdfast, DataSource dataSource, HoldfastProperties properties) {
      TransactionalJobs jobs = new TransactionalJobs(holdfast, dataSource, properties.tenantName());
      try {
        jobs.open();
      } catch (RuntimeException e) {
        // Whoever migrates may come later; who enqueues then looks again.
        log.warn("Jobs of tenant {} cannot be enqueued yet: {}", properties.tenant(), e.toString());
      }
      return jobs;
    }

    // Another database would complain of the first statement, in words of its own.
    private static void requirePostgres(DataSource pool) {
      try (Connection connection = pool.getConnection()) {
        String product = connection.getMetaData().getDatabaseProductName();
        if (!product.equals("PostgreSQL")) {
          throw new HoldfastException(
              ErrorCode.BAD_CONFIG,
              "the DataSource leads to "
                  + product
                  + ", and Holdfast needs PostgreSQL: give it a DataSource of that, or set"
                  + " holdfast.enabled=false");
        }
      } catch (SQLException e) {
        throw new HoldfastException(
            ErrorCode.DATABASE, "the DataSource gives no connection: " + e.getMessage(), e);
      }
    }
  }

  /** For the methods of {@link Holdfast}, which mean the default tenant where none is named. */
  @Bean
  @ConditionalOnMissingBean
  TenantName holdfastTenant(HoldfastProperties properties) {
    return properties.tenantName();
  }

  /** Handlers without a Holdfast stop the start, and Spring says why there is none. */
  @Bean
  @ConditionalOnBean(WorkerCustomizer.class)
  @ConditionalOnBooleanProperty(name = "holdfast.worker.enabled", matchIfMissing = true)
  HoldfastWorker holdfastWorker(
      ApplicationContext context,
      Holdfast holdfast,
      HoldfastProperties properties,
      ObjectProvider<WorkerCustomizer> customizers,
      ObjectProvider<WorkerListener> listeners) {
    return new HoldfastWorker(
        context,
        holdfast,
        properties,
        customizers.orderedStream().toList(),
        listeners.orderedStream().toList());
  }

  @Bean
  @Conditional(SchedulerWanted.class)
  @ConditionalOnBooleanProperty(name = "holdfast.scheduler.enabled", matchIfMissing = true)
  HoldfastScheduler holdfastScheduler(
      Holdfast holdfast,
      HoldfastProperties properties,
      Environment environment,
      ObjectProvider<Schedule> schedules) {
    return new HoldfastScheduler(
        holdfast,
        properties.tenantName(),
        environment.getProperty("spring.application.name", ""),
        schedules.orderedStream().toList());
  }

  /** People can make schedules, too: where they do, the property asks for a scheduler. */
  static final class SchedulerWanted extends AnyNestedCondition {

    SchedulerWanted() {
      super(ConfigurationPhase.REGISTER_BEAN);
    }

    @ConditionalOnBean(Schedule.class)
    static final class Declared {}

    @ConditionalOnBooleanProperty("holdfast.scheduler.enabled")
    static final class AskedFor {}
  }
}
