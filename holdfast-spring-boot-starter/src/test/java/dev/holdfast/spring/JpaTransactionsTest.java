package dev.holdfast.spring;

import static dev.holdfast.spring.Applications.HELLO;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.support.TransactionTemplate;

class JpaTransactionsTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Entity(name = "person")
  static class Person {
    @Id String name = "";
  }

  @Configuration(proxyBeanMethods = false)
  static class Jpa {

    @Bean
    LocalContainerEntityManagerFactoryBean entityManagerFactory(DataSource dataSource) {
      LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
      factory.setDataSource(dataSource);
      factory.setManagedTypes(PersistenceManagedTypes.of(Person.class.getName()));
      factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
      factory.setJpaPropertyMap(Map.of("hibernate.hbm2ddl.auto", "create"));
      return factory;
    }

    @Bean
    JpaTransactionManager transactionManager(EntityManagerFactory factory) {
      return new JpaTransactionManager(factory);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void a_job_shares_the_fate_of_entities(boolean autoCommit) {
    Applications.of(tenant)
        .withPropertyValues(
            "spring.datasource.hikari.auto-commit=" + autoCommit,
            "spring.datasource.url=" + Applications.urlInSchemaOf(tenant))
        .withUserConfiguration(Jpa.class)
        .run(context -> {
          TransactionTemplate transaction =
              new TransactionTemplate(context.getBean(JpaTransactionManager.class));
          EntityManager entities =
              SharedEntityManagerCreator.createSharedEntityManager(
                  context.getBean(EntityManagerFactory.class));
          TransactionalJobs jobs = context.getBean(TransactionalJobs.class);
          List<UUID> ids = new ArrayList<>();

          transaction.executeWithoutResult(status -> {
            entities.persist(person("ada"));
            ids.add(jobs.enqueue(HELLO.job("ada")).id());
          });
          transaction.executeWithoutResult(status -> {
            entities.persist(person("bob"));
            ids.add(jobs.enqueue(HELLO.job("bob")).id());
            status.setRollbackOnly();
          });

          assertThat(ids).map(id -> tenant.jobs().get(id).isPresent()).containsExactly(true, false);
          assertThat(tenant.query("SELECT name FROM {schema}.person"))
              .containsExactly(Map.of("name", "ada"));
        });
  }

  @Test
  void a_transaction_of_entities_and_another_at_once_are_refused() {
    TransactionTemplate others =
        new TransactionTemplate(
            new DataSourceTransactionManager(TestDatabase.shared().dataSource()));
    Applications.of(tenant)
        .withPropertyValues("spring.datasource.url=" + Applications.urlInSchemaOf(tenant))
        .withUserConfiguration(Jpa.class)
        .run(context -> {
          TransactionTemplate ours =
              new TransactionTemplate(context.getBean(JpaTransactionManager.class));
          TransactionalJobs jobs = context.getBean(TransactionalJobs.class);
          ThrowingCallable enqueue = () -> jobs.enqueue(HELLO.job("ada"));

          ours.executeWithoutResult(outer ->
              others.executeWithoutResult(inner ->
                  assertThatThrownBy(enqueue).hasMessageContaining("two transactions at once")));
          others.executeWithoutResult(outer ->
              ours.executeWithoutResult(inner ->
                  assertThatThrownBy(enqueue).hasMessageContaining("two transactions at once")));
        });
  }

  private static Person person(String name) {
    Person person = new Person();
    person.name = name;
    return person;
  }
}
