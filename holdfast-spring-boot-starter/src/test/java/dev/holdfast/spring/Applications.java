package dev.holdfast.spring;

import dev.holdfast.job.Kind;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import javax.sql.DataSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceInitializationAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;

/** Small applications for tests. */
final class Applications {

  static final Kind<String> HELLO = Kind.of("hello", String.class);

  private Applications() {}

  /** With nothing but what Spring Boot and the starter bring by themselves. */
  static ApplicationContextRunner bare() {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                DataSourceAutoConfiguration.class,
                DataSourceInitializationAutoConfiguration.class,
                DataSourceTransactionManagerAutoConfiguration.class,
                TransactionAutoConfiguration.class,
                HoldfastAutoConfiguration.class,
                HoldfastHealthAutoConfiguration.class,
                HoldfastMetricsAutoConfiguration.class));
  }

  /** With a pool of its own on the tests' database, for a test's tenant. */
  static ApplicationContextRunner of(TestTenant tenant) {
    return bare()
        .withPropertyValues(
            "spring.datasource.url=" + TestDatabase.shared().jdbcUrl(),
            "spring.datasource.hikari.maximum-pool-size=8",
            "spring.datasource.hikari.minimum-idle=1",
            "holdfast.tenant=" + tenant.name());
  }

  /** The same with a DataSource that the application makes itself. */
  static ApplicationContextRunner of(TestTenant tenant, DataSource dataSource) {
    return bare()
        .withBean(DataSource.class, () -> dataSource)
        .withPropertyValues("holdfast.tenant=" + tenant.name());
  }

  /** Where tables of the application's own go that it names without a schema. */
  static String urlInSchemaOf(TestTenant tenant) {
    String schema = tenant.tenant().db().schema().value();
    return TestDatabase.shared().jdbcUrl() + "&currentSchema=" + schema;
  }
}
