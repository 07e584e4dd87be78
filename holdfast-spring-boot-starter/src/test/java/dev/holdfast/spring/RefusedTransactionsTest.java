package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.NewJob;
import dev.holdfast.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** Where a job could not share the fate of the transaction, it is refused. */
class RefusedTransactionsTest extends TransactionsRig {

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void a_transaction_of_another_data_source_is_refused(boolean autoCommit) {
    DataSource other = TestDatabase.shared().dataSource();
    TransactionTemplate transaction =
        new TransactionTemplate(new DataSourceTransactionManager(other));
    Applications.of(tenant)
        .withPropertyValues("spring.datasource.hikari.auto-commit=" + autoCommit)
        .run(context -> {
          TransactionalJobs jobs = context.getBean(TransactionalJobs.class);

          transaction.executeWithoutResult(status -> {
            assertRefused(jobs, "another DataSource or transaction manager");
            // Now the thread has a connection of ours, which the other's commit does not commit.
            use(context.getBean(DataSource.class));
            assertRefused(jobs, "another DataSource or transaction manager");
          });

          assertThat(tenant.query("SELECT id FROM {schema}.job")).isEmpty();
        });
  }

  @Test
  void two_transactions_at_once_are_refused_whichever_is_the_inner_one() {
    DataSource other = TestDatabase.shared().dataSource();
    TransactionTemplate others = new TransactionTemplate(new DataSourceTransactionManager(other));
    Applications.of(tenant)
        .run(context -> {
          TransactionalJobs jobs = context.getBean(TransactionalJobs.class);
          TransactionTemplate ours = transaction(context);
          List<UUID> ids = new ArrayList<>();

          ours.executeWithoutResult(outer -> {
            others.executeWithoutResult(inner -> assertRefused(jobs, "two transactions at once"));
            ids.add(jobs.enqueue(JOB).id());
          });
          others.executeWithoutResult(outer ->
              ours.executeWithoutResult(inner -> assertRefused(jobs, "two transactions at once")));

          assertThat(ids).map(this::exists).as("when the other had ended").containsExactly(true);
          assertThat(tenant.query("SELECT id FROM {schema}.job")).hasSize(1);
        });
  }

  @Test
  void a_job_that_may_exist_already_is_refused_above_read_committed() {
    Applications.of(tenant)
        .run(context -> {
          TransactionalJobs jobs = context.getBean(TransactionalJobs.class);
          TransactionTemplate transaction = transaction(context);
          transaction.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
          List<UUID> ids = new ArrayList<>();

          transaction.executeWithoutResult(status -> {
            for (NewJob each : List.of(JOB.withId(UUID.randomUUID()), JOB.withUniqueKey("ada"))) {
              assertThatThrownBy(() -> jobs.enqueue(each))
                  .isInstanceOf(HoldfastException.class)
                  .hasMessageContaining("READ COMMITTED");
            }
            ids.add(jobs.enqueue(JOB).id());
          });

          assertThat(ids).map(this::exists).containsExactly(true);
        });
  }

  @Test
  void a_read_only_transaction_is_refused() {
    Applications.of(tenant)
        .run(context -> {
          TransactionTemplate transaction = transaction(context);
          transaction.setReadOnly(true);

          transaction.executeWithoutResult(
              status -> assertRefused(context.getBean(TransactionalJobs.class), "read-only"));
        });
  }

  private static void assertRefused(TransactionalJobs jobs, String why) {
    assertThatThrownBy(() -> jobs.enqueue(JOB))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining(why);
  }
}
