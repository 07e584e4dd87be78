package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.queue.Enqueued;
import dev.holdfast.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** A job is stored with the transaction that it was enqueued in, or at once where there is none. */
class JoinedTransactionsTest extends TransactionsRig {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spring.datasource.hikari.auto-commit=true",
        "spring.datasource.hikari.auto-commit=false",
        "spring.datasource.connection-fetch=lazy"
      })
  void a_job_exists_when_and_only_if_its_transaction_commits(String pool) {
    Applications.of(tenant)
        .withPropertyValues(pool)
        .run(context -> {
          TransactionalJobs jobs = context.getBean(TransactionalJobs.class);
          List<UUID> ids = new ArrayList<>();

          transaction(context)
              .executeWithoutResult(status -> {
                ids.add(jobs.enqueue(JOB).id());
                assertThat(exists(ids.getLast())).as("before the commit").isFalse();
              });
          transaction(context)
              .executeWithoutResult(status -> {
                ids.add(jobs.enqueue(JOB).id());
                status.setRollbackOnly();
              });

          assertThat(ids).map(this::exists).containsExactly(true, false);
        });
  }

  @Test
  void many_jobs_share_the_fate_of_a_transaction_too() {
    Applications.of(tenant)
        .run(context -> {
          TransactionalJobs jobs = context.getBean(TransactionalJobs.class);
          List<Enqueued> undone = new ArrayList<>();

          transaction(context)
              .executeWithoutResult(status -> {
                undone.addAll(jobs.enqueueAll(List.of(JOB, JOB)));
                status.setRollbackOnly();
              });
          List<Enqueued> stored = jobs.enqueueAll(List.of(JOB, JOB));

          assertThat(undone).hasSize(2).noneMatch(each -> exists(each.id()));
          assertThat(stored).hasSize(2).allMatch(each -> exists(each.id()));
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void without_a_transaction_a_job_is_stored_at_once(boolean autoCommit) {
    Applications.of(tenant)
        .withPropertyValues("spring.datasource.hikari.auto-commit=" + autoCommit)
        .run(context -> {
          Enqueued enqueued = context.getBean(TransactionalJobs.class).enqueue(JOB);

          assertThat(exists(enqueued.id())).isTrue();
        });
  }

  @Test
  void a_scope_that_has_no_transaction_stores_at_once() {
    Applications.of(tenant)
        .run(context -> {
          TransactionTemplate supports = transaction(context);
          supports.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);

          supports.executeWithoutResult(status -> {
            use(context.getBean(DataSource.class)); // its connection stays with the thread
            Enqueued enqueued = context.getBean(TransactionalJobs.class).enqueue(JOB);
            assertThat(exists(enqueued.id())).isTrue();
          });
        });
  }

  @Test
  void a_transaction_within_another_decides_about_its_own_jobs() {
    Applications.of(tenant)
        .run(context -> {
          TransactionalJobs jobs = context.getBean(TransactionalJobs.class);
          TransactionTemplate inner = transaction(context);
          inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
          List<UUID> ids = new ArrayList<>();

          transaction(context)
              .executeWithoutResult(outer -> {
                ids.add(jobs.enqueue(JOB).id());
                inner.executeWithoutResult(status -> ids.add(jobs.enqueue(JOB).id()));
                outer.setRollbackOnly();
              });

          assertThat(ids).map(this::exists).containsExactly(false, true);
        });
  }

  @Test
  void a_savepoint_takes_its_jobs_back() {
    Applications.of(tenant)
        .run(context -> {
          TransactionalJobs jobs = context.getBean(TransactionalJobs.class);
          TransactionTemplate nested = transaction(context);
          nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
          List<UUID> ids = new ArrayList<>();

          transaction(context)
              .executeWithoutResult(outer -> {
                ids.add(jobs.enqueue(JOB).id());
                nested.executeWithoutResult(status -> {
                  ids.add(jobs.enqueue(JOB).id());
                  status.setRollbackOnly();
                });
              });

          assertThat(ids).map(this::exists).containsExactly(true, false);
        });
  }

  @Test
  void of_two_transactions_the_connection_names_one() {
    DataSource other = TestDatabase.shared().dataSource();
    TransactionTemplate others = new TransactionTemplate(new DataSourceTransactionManager(other));
    Applications.of(tenant)
        .run(context -> {
          Holdfast holdfast = context.getBean(Holdfast.class);
          JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
          ConnectionCallback<Enqueued> enqueue =
              own -> holdfast.jobs(tenant.name()).enqueue(own, JOB);
          List<UUID> ids = new ArrayList<>();

          transaction(context)
              .executeWithoutResult(outer ->
                  others.executeWithoutResult(inner -> {
                    ids.add(jdbc.execute(enqueue).id());
                    inner.setRollbackOnly();
                  }));
          transaction(context)
              .executeWithoutResult(outer -> {
                others.executeWithoutResult(inner -> ids.add(jdbc.execute(enqueue).id()));
                outer.setRollbackOnly();
              });

          assertThat(ids).map(this::exists).containsExactly(true, false);
        });
  }

  @Test
  void a_connection_of_another_data_source_is_no_second_transaction() {
    Applications.of(tenant)
        .run(context -> {
          List<UUID> ids = new ArrayList<>();

          transaction(context)
              .executeWithoutResult(status -> {
                use(TestDatabase.shared().dataSource()); // its connection stays with the thread
                ids.add(context.getBean(TransactionalJobs.class).enqueue(JOB).id());
              });

          assertThat(ids).map(this::exists).containsExactly(true);
        });
  }

  @Test
  void a_data_source_may_stand_behind_proxies() {
    DataSource proxies =
        new TransactionAwareDataSourceProxy(
            new LazyConnectionDataSourceProxy(TestDatabase.shared().dataSource()));
    Applications.of(tenant, proxies)
        .run(context -> {
          TransactionalJobs jobs = context.getBean(TransactionalJobs.class);
          List<UUID> ids = new ArrayList<>();

          ids.add(jobs.enqueue(JOB).id());
          transaction(context).executeWithoutResult(status -> ids.add(jobs.enqueue(JOB).id()));
          transaction(context)
              .executeWithoutResult(status -> {
                ids.add(jobs.enqueue(JOB).id());
                status.setRollbackOnly();
              });

          assertThat(ids).map(this::exists).containsExactly(true, true, false);
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void first_enqueues_need_no_connection_besides_their_transactions(boolean migrate) {
    tenant.jobs().prepare(JOB);
    Applications.of(tenant)
        .withPropertyValues(
            "holdfast.migrate=" + migrate,
            "spring.datasource.hikari.maximum-pool-size=2",
            "spring.datasource.hikari.connection-timeout=5000")
        .run(context -> assertThat(enqueuedAtOnce(context)).allMatch(this::exists));
  }

  @Test
  void first_enqueues_of_a_kind_that_was_prepared_need_none_either() {
    Applications.of(tenant)
        .withPropertyValues(
            "spring.datasource.hikari.maximum-pool-size=2",
            "spring.datasource.hikari.connection-timeout=5000")
        .run(context -> {
          context.getBean(TransactionalJobs.class).prepare(JOB);

          assertThat(enqueuedAtOnce(context)).allMatch(this::exists);
        });
  }

  // Of two transactions, each of which has begun before the other enqueues.
  private static List<UUID> enqueuedAtOnce(ApplicationContext context) throws Exception {
    TransactionalJobs jobs = context.getBean(TransactionalJobs.class);
    CyclicBarrier begun = new CyclicBarrier(2);
    Callable<UUID> enqueue =
        () ->
            transaction(context)
                .execute(status -> {
                  await(begun);
                  return jobs.enqueue(JOB).id();
                });
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      List<UUID> ids = new ArrayList<>();
      for (Future<UUID> each : threads.invokeAll(List.of(enqueue, enqueue))) {
        ids.add(each.get());
      }
      return ids;
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (InterruptedException | BrokenBarrierException e) {
      throw new IllegalStateException(e);
    }
  }
}
