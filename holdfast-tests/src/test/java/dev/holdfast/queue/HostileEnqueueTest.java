package dev.holdfast.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.EngineRig;
import dev.holdfast.job.JobIds;
import dev.holdfast.job.NewJob;
import dev.holdfast.rig.Proxies;
import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** Enqueues that come in crowds, break off in the middle, or bring what nobody expected. */
class HostileEnqueueTest extends EngineRig {

  @Test
  void who_gives_every_job_a_priority_of_its_own_does_not_make_claims_slow_for_good() {
    tenant.execute(
        """
        INSERT INTO {schema}.lane (queue, kind, priority, host, host_required, labels, guarded)
        SELECT 'default', 'k', -number, '', false, '{}', false
          FROM generate_series(1, 10000) AS number
        """);

    assertThatThrownBy(() -> tenant.jobs().enqueue(NewJob.of("k", 1).withPriority(1)))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("10000 different pairings");
    tenant.jobs().enqueue(NewJob.of("k", 1).withPriority(-7));
    tenant.jobs().enqueue(NewJob.of("k", 1).withQueue("other").withPriority(1));

    assertThat(tenant.query("SELECT FROM {schema}.job")).hasSize(2);
  }

  @Test
  void a_tenant_has_only_so_many_lanes_and_says_so() {
    tenant.jobs().enqueue(NewJob.of("k", 1));
    tenant.execute(
        """
        INSERT INTO {schema}.lane (id, queue, kind, priority, host, host_required, labels, guarded)
        OVERRIDING SYSTEM VALUE
        SELECT id - id %% %d + %d, 'last', 'k', 0, '', false, '{}', false
          FROM {schema}.lane
         LIMIT 1
        """
            .formatted(Lanes.IDS_OF_A_TENANT, Lanes.LAST_OF_A_TENANT));

    assertThatThrownBy(() -> tenant.jobs().enqueue(NewJob.of("k", 1).withQueue("other")))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("queue")
        .hasMessageContaining("1000000 in all queues");
    tenant.jobs().enqueue(NewJob.of("k", 2));

    assertThat(tenant.query("SELECT FROM {schema}.job")).hasSize(2);
  }

  @Test
  void a_crowd_of_first_jobs_of_their_kinds_does_not_use_up_the_pool() throws Exception {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(TestDatabase.shared().jdbcUrl());
    config.setMaximumPoolSize(4);
    config.setConnectionTimeout(10_000);
    int crowd = 8;
    CyclicBarrier together = new CyclicBarrier(crowd);
    try (HikariDataSource small = new HikariDataSource(config);
        ExecutorService threads = Executors.newFixedThreadPool(crowd)) {
      Jobs jobs = Holdfast.on(small).jobs(tenant.name());
      List<Future<Enqueued>> enqueued = new ArrayList<>();
      for (int i = 0; i < crowd; i++) {
        String kind = "kind-" + i;
        enqueued.add(
            threads.submit(() -> {
              together.await();
              return jobs.enqueue(NewJob.of(kind, 1));
            }));
      }

      for (Future<Enqueued> each : enqueued) {
        assertThat(each.get().created()).isTrue();
      }
    }
  }

  @Test
  void two_batches_with_the_same_keys_in_another_order_do_not_wait_for_each_other()
      throws Exception {
    List<NewJob> up =
        IntStream.range(0, 500)
            .mapToObj(i -> NewJob.of("work", 1).withUniqueKey("key-" + i))
            .toList();
    CyclicBarrier together = new CyclicBarrier(2);
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      List<Future<List<Enqueued>>> both = new ArrayList<>();
      for (List<NewJob> batch : List.of(up, up.reversed())) {
        both.add(
            threads.submit(() -> {
              together.await();
              return tenant.jobs().enqueueAll(batch);
            }));
      }

      int created = 0;
      for (Future<List<Enqueued>> each : both) {
        created += (int) each.get().stream().filter(Enqueued::created).count();
      }
      assertThat(created).isEqualTo(500);
    }
  }

  @Test
  void a_batch_that_breaks_off_with_an_error_stores_nothing() {
    UUID id = JobIds.next();
    DataSource real = TestDatabase.shared().dataSource();
    DataSource breakingOff =
        Proxies.make(
            DataSource.class,
            (method, arguments) ->
                method.invoke(real, arguments) instanceof Connection connection
                    ? breakingOff(connection)
                    : fail("only connections are asked for"));
    Jobs jobs = Holdfast.on(breakingOff).jobs(tenant.name());

    assertThatThrownBy(
            () -> jobs.enqueueAll(List.of(NewJob.of("work", 1).withId(id), NewJob.of("work", 2))))
        .isInstanceOf(OutOfMemoryError.class);

    assertThat(tenant.jobs().get(id)).isEmpty();
  }

  private static Connection breakingOff(Connection real) {
    return Proxies.make(
        Connection.class,
        (method, arguments) -> {
          if (method.getName().equals("releaseSavepoint")) { // when all of it is written
            throw new OutOfMemoryError("as a very large batch would");
          }
          return method.invoke(real, arguments);
        });
  }

  @Test
  void text_that_postgresql_cannot_store_as_it_is_is_refused() {
    for (String key : List.of("\uD800", "a\0b", "\uDC00x")) {
      assertThatThrownBy(() -> NewJob.of("work", 1).withUniqueKey(key))
          .isInstanceOf(HoldfastException.class)
          .hasMessageContaining("unique_key");
    }
  }

  @Test
  void a_target_without_a_name_is_refused_and_stops_nobody() {
    UUID plain = enqueue(NewJob.of("work", 1));

    assertThatThrownBy(() -> NewJob.of("work", 1).withResources("target:"))
        .isInstanceOf(HoldfastException.class);

    assertThat(ids(claim(10))).containsExactly(plain);
  }

  @Test
  void an_act_that_was_rolled_back_leaves_no_lane_behind_that_others_believe_in() {
    List<Holdfast> self = new ArrayList<>();
    self.add(
        Holdfast.builder(TestDatabase.shared().dataSource())
            .onTransition((connection, moved) -> {
              self.getFirst().jobs(tenant.name()).enqueue(connection, NewJob.of("follow-up", 1));
              throw new java.sql.SQLException("the application changed its mind");
            })
            .build());
    Jobs jobs = self.getFirst().jobs(tenant.name());
    UUID id = jobs.enqueue(NewJob.of("work", 1)).id();
    assertThatThrownBy(() -> self.getFirst().acts(tenant.name()).pause(id, ADA))
        .isInstanceOf(HoldfastException.class);

    UUID later = jobs.enqueue(NewJob.of("follow-up", 1)).id();

    assertThat(ids(claim(10))).containsExactlyInAnyOrder(id, later);
  }
}
