package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Callbacks of a transaction that has ended, or is about to, when nothing commits a job any more.
 */
class EndedTransactionsTest extends TransactionsRig {

  @Test
  void a_transaction_that_has_ended_is_refused() {
    Applications.of(tenant)
        .run(context -> {
          List<Throwable> thrown = new ArrayList<>();
          TransactionSynchronization late =
              new TransactionSynchronization() {
                @Override
                public void afterCompletion(int status) {
                  try {
                    context.getBean(TransactionalJobs.class).enqueue(JOB);
                  } catch (HoldfastException e) {
                    thrown.add(e);
                  }
                }
              };

          transaction(context)
              .executeWithoutResult(
                  status -> TransactionSynchronizationManager.registerSynchronization(late));

          assertThat(thrown).singleElement().asString().contains("has ended");
          assertThat(tenant.query("SELECT id FROM {schema}.job")).isEmpty();
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void a_transaction_that_has_ended_is_refused_after_a_new_one_in_its_callbacks(
      boolean autoCommit) {
    TransactionTemplate scopeOfAnother =
        new TransactionTemplate(
            new DataSourceTransactionManager(TestDatabase.shared().dataSource()));
    scopeOfAnother.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
    Applications.of(tenant)
        .withPropertyValues("spring.datasource.hikari.auto-commit=" + autoCommit)
        .run(context -> {
          TransactionalJobs jobs = context.getBean(TransactionalJobs.class);
          TransactionTemplate anew = transaction(context);
          anew.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
          List<UUID> ids = new ArrayList<>();
          List<String> refusals = new ArrayList<>();

          transaction(context)
              .executeWithoutResult(status -> {
                afterCompletion(
                    () -> anew.executeWithoutResult(inner -> ids.add(jobs.enqueue(JOB).id())));
                afterCompletion(() -> refusals.add(refusal(jobs)));
                afterCompletion(() ->
                    scopeOfAnother.executeWithoutResult(inner -> refusals.add(refusal(jobs))));
              });

          assertThat(refusals).hasSize(2).allMatch(each -> each.contains("has ended"));
          assertThat(ids).map(this::exists).containsExactly(true);
          assertThat(tenant.query("SELECT id FROM {schema}.job")).hasSize(1);
        });
  }

  @Test
  @ResourceLock("the log")
  void a_job_that_comes_after_the_commit_is_told_of() {
    Logger logger = (Logger) LoggerFactory.getLogger(TransactionalJobs.class);
    ListAppender<ILoggingEvent> told = new ListAppender<>();
    told.start();
    logger.addAppender(told);
    Applications.of(tenant)
        .run(context -> {
          TransactionalJobs jobs = context.getBean(TransactionalJobs.class);
          TransactionSynchronization late =
              new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                  jobs.enqueue(JOB);
                }
              };

          transaction(context).executeWithoutResult(status -> jobs.enqueue(JOB));
          assertThat(told.list).isEmpty();

          transaction(context)
              .executeWithoutResult(
                  status -> TransactionSynchronizationManager.registerSynchronization(late));
          assertThat(told.list).singleElement().asString().contains("after the commit");
        });
    logger.detachAppender(told);
  }

  @Test
  @ResourceLock("the log")
  void a_job_in_a_transaction_that_joined_one_which_has_ended_is_told_of() {
    Logger logger = (Logger) LoggerFactory.getLogger(TransactionalJobs.class);
    ListAppender<ILoggingEvent> told = new ListAppender<>();
    told.start();
    logger.addAppender(told);
    Applications.of(tenant)
        .run(context -> {
          TransactionalJobs jobs = context.getBean(TransactionalJobs.class);

          transaction(context)
              .executeWithoutResult(outer ->
                  afterCompletion(() ->
                      transaction(context).executeWithoutResult(status -> jobs.enqueue(JOB))));

          assertThat(told.list).singleElement().asString().contains("may be lost");
        });
    logger.detachAppender(told);
  }

  private static void afterCompletion(Runnable work) {
    TransactionSynchronizationManager.registerSynchronization(
        new TransactionSynchronization() {
          @Override
          public void afterCompletion(int status) {
            work.run();
          }
        });
  }

  private static String refusal(TransactionalJobs jobs) {
    try {
      return "not refused: " + jobs.enqueue(JOB);
    } catch (HoldfastException e) {
      return String.valueOf(e.getMessage());
    }
  }
}
