package dev.holdfast.spring;

import static dev.holdfast.spring.Applications.HELLO;

import dev.holdfast.job.NewJob;
import dev.holdfast.testkit.TestTenant;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A tenant, and transactions of an application that enqueues in it. */
abstract class TransactionsRig {

  static final NewJob JOB = HELLO.job("ada");

  @RegisterExtension final TestTenant tenant = new TestTenant();

  boolean exists(UUID id) {
    return tenant.jobs().get(id).isPresent();
  }

  static TransactionTemplate transaction(ApplicationContext context) {
    return new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
  }

  static void use(DataSource dataSource) {
    new JdbcTemplate(dataSource).execute("SELECT 1");
  }
}
