package dev.holdfast.spring;

import static dev.holdfast.spring.Applications.HELLO;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.codec.Codec;
import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.jdbc.autoconfigure.ApplicationDataSourceScriptDatabaseInitializer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

class HoldfastAutoConfigurationTest {

  private static final WorkerCustomizer HANDLER = worker -> worker.handle(HELLO, (name, job) -> {});

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void a_start_creates_the_tables_and_the_tenant() {
    Applications.of(tenant)
        .withPropertyValues("holdfast.schema=spring_made", "holdfast.tenant=here")
        .run(context ->
            assertThat(context.getBean(Holdfast.class).tenants().list())
                .containsExactly(new TenantName("here")));
  }

  @Test
  void a_start_that_may_not_migrate_leaves_the_database_alone() {
    Applications.of(tenant)
        .withPropertyValues("holdfast.schema=spring_absent", "holdfast.migrate=false")
        .run(context -> assertThat(context).hasNotFailed().hasSingleBean(TransactionalJobs.class));

    assertThat(tenant.query("SELECT FROM pg_namespace WHERE nspname = 'spring_absent'")).isEmpty();
  }

  @Test
  void the_applications_own_database_comes_first() {
    Applications.of(tenant)
        .withPropertyValues(
            "spring.sql.init.mode=always", "spring.sql.init.schema-locations=optional:none.sql")
        .run(context ->
            assertThat(context.getBeanFactory().getBeanDefinition("holdfast").getDependsOn())
                .containsExactly(
                    context.getBeanNamesForType(
                        ApplicationDataSourceScriptDatabaseInitializer.class)));
  }

  @Test
  void the_tenant_of_the_properties_can_be_injected() {
    Applications.of(tenant)
        .run(context -> assertThat(context.getBean(TenantName.class)).isEqualTo(tenant.name()));
  }

  @Test
  void an_application_may_make_its_own_holdfast() {
    Applications.of(tenant)
        .withBean("own", Holdfast.class, tenant::holdfast)
        .withBean(WorkerCustomizer.class, () -> HANDLER)
        .run(context -> {
          assertThat(context.getBean(Holdfast.class)).isSameAs(tenant.holdfast());
          assertThat(context)
              .hasSingleBean(HoldfastWorker.class)
              .as("which might be of another DataSource")
              .doesNotHaveBean(TransactionalJobs.class);
        });
  }

  @Test
  void the_applications_codec_and_hook_and_customizers_are_used() {
    List<Object> encoded = new ArrayList<>();
    List<String> customized = new ArrayList<>();
    JacksonCodec jackson = new JacksonCodec();
    Codec codec =
        new Codec() {
          @Override
          public String encode(Object value) {
            encoded.add(value);
            return jackson.encode(value);
          }

          @Override
          public <T> T decode(String json, Class<T> type) {
            return jackson.decode(json, type);
          }
        };
    List<UUID> moved = new ArrayList<>();
    TransitionHook hook = (connection, all) -> all.forEach(each -> moved.add(each.jobId()));
    Applications.of(tenant)
        .withBean(Codec.class, () -> codec)
        .withBean(TransitionHook.class, () -> hook)
        .withBean(HoldfastCustomizer.class, () -> holdfast -> customized.add("once"))
        .run(context -> {
          UUID id = context.getBean(TransactionalJobs.class).enqueue(HELLO.job("ada")).id();
          context
              .getBean(Holdfast.class)
              .worker(tenant.name())
              .handle(HELLO, (name, job) -> {})
              .build()
              .runDue();

          assertThat(encoded).contains("ada");
          assertThat(moved).contains(id);
          assertThat(customized).containsExactly("once");
        });
  }

  @Test
  void holdfast_gets_the_pool_behind_proxies() {
    DataSource proxies =
        new TransactionAwareDataSourceProxy(
            new LazyConnectionDataSourceProxy(
                new TransactionAwareDataSourceProxy(TestDatabase.shared().dataSource())));
    Applications.of(tenant, proxies)
        .run(context -> {
          List<UUID> ids = new ArrayList<>();

          new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
              .executeWithoutResult(status -> {
                Holdfast holdfast = context.getBean(Holdfast.class);
                ids.add(holdfast.jobs(tenant.name()).enqueue(HELLO.job("ada")).id());
                status.setRollbackOnly();
              });

          assertThat(tenant.jobs().get(ids.getFirst()))
              .as("of a connection of its own")
              .isPresent();
        });
  }

  @Test
  void an_application_without_handlers_has_no_worker() {
    Applications.of(tenant)
        .run(context ->
            assertThat(context)
                .hasSingleBean(Holdfast.class)
                .doesNotHaveBean(HoldfastWorker.class)
                .doesNotHaveBean(HoldfastScheduler.class));
  }

  @Test
  void an_application_without_a_data_source_starts() {
    Applications.bare()
        .withClassLoader(new FilteredClassLoader("org.h2", "com.zaxxer"))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Holdfast.class));
  }

  @Test
  void handlers_without_a_data_source_stop_the_start() {
    Applications.bare()
        .withClassLoader(new FilteredClassLoader("org.h2", "com.zaxxer"))
        .withBean(WorkerCustomizer.class, () -> HANDLER)
        .run(context ->
            assertThat(context)
                .getFailure()
                .rootCause()
                .isInstanceOf(NoSuchBeanDefinitionException.class)
                .hasMessageContaining(Holdfast.class.getName()));
  }

  @Test
  void another_database_stops_the_start_with_a_sentence() {
    Applications.of(tenant)
        .withPropertyValues("spring.datasource.url=jdbc:h2:mem:other")
        .run(context ->
            assertThat(context)
                .getFailure()
                .rootCause()
                .isInstanceOf(HoldfastException.class)
                .hasMessageContaining("leads to H2, and Holdfast needs PostgreSQL"));
  }

  @Test
  void holdfast_can_be_switched_off() {
    Applications.of(tenant)
        .withPropertyValues("spring.datasource.url=jdbc:h2:mem:off", "holdfast.enabled=false")
        .withBean(WorkerCustomizer.class, () -> HANDLER)
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Holdfast.class));
  }

  @Test
  void holdfast_needs_neither_micrometer_nor_actuator() {
    Applications.of(tenant)
        .withClassLoader(
            new FilteredClassLoader(
                "io.micrometer.core", "org.springframework.boot.health.contributor"))
        .withBean(WorkerCustomizer.class, () -> HANDLER)
        .run(context -> assertThat(context).hasNotFailed().hasSingleBean(HoldfastWorker.class));
  }

  @Test
  void two_data_sources_without_a_primary_one_are_left_alone() {
    Applications.bare()
        .withBean("one", DataSource.class, SimpleDriverDataSource::new)
        .withBean("other", DataSource.class, SimpleDriverDataSource::new)
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Holdfast.class));
  }
}
