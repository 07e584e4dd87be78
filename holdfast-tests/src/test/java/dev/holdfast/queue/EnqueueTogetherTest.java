package dev.holdfast.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.rig.Cable;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Enqueues of many threads, which share statements; one of them may have a connection on which
 * nobody answers any more.
 */
class EnqueueTogetherTest {

  private static final Kind<Integer> EMAIL = Kind.of("email", Integer.class);
  private static final NewJob JOB = EMAIL.job(1);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final AtomicBoolean struck = new AtomicBoolean();
  private final CountDownLatch silent = new CountDownLatch(1);
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final BlockingQueue<UUID> stored = new LinkedBlockingQueue<>();
  private final List<Thread> threads = new ArrayList<>();
  private final Thread unlucky = enqueuing();
  private Cable cable;
  private Jobs jobs;

  @BeforeEach
  void connect() throws Exception {
    PGSimpleDataSource direct = new PGSimpleDataSource();
    direct.setUrl(TestDatabase.shared().jdbcUrl());
    cable = new Cable(direct.getPortNumbers()[0]);
    PGSimpleDataSource byCable = new PGSimpleDataSource();
    byCable.setUrl(TestDatabase.shared().jdbcUrl());
    byCable.setServerNames(new String[] {"127.0.0.1"});
    byCable.setPortNumbers(new int[] {cable.port()});
    jobs = Holdfast.on(lending(() -> lent(byCable.getConnection()))).jobs(tenant.name());
    jobs.prepare(JOB);
  }

  private static DataSource lending(Callable<Connection> connections) {
    return (DataSource)
        Proxy.newProxyInstance(
            EnqueueTogetherTest.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> connections.call());
  }

  /** On the first connection that the unlucky thread gets, nothing arrives any more. */
  private Connection lent(Connection connection) throws InterruptedException {
    if (Thread.currentThread().equals(unlucky) && struck.compareAndSet(false, true)) {
      begun.countDown();
      goOn.await();
      cable.hold();
      silent.countDown();
    }
    return connection;
  }

  @AfterEach
  void cut() throws Exception {
    cable.close();
    for (Thread thread : threads) {
      thread.join();
    }
  }

  @Test
  void whoever_hears_nothing_from_the_server_keeps_nobody_else_waiting() throws Exception {
    goOn.countDown();
    unlucky.start();
    silent.await();

    for (int other = 0; other < 3; other++) {
      enqueuing().start();
    }
    List<UUID> returned = List.of(stored.take(), stored.take(), stored.take());

    assertThat(unlucky.isAlive()).isTrue();
    assertThat(ids()).containsExactlyInAnyOrderElementsOf(List.<Object>copyOf(returned));
  }

  @Test
  void nor_does_it_keep_those_whose_jobs_it_had_taken_along() throws Exception {
    goTogether();

    List<UUID> returned = List.of(stored.take(), stored.take(), stored.take());

    assertThat(unlucky.isAlive()).isTrue();
    assertThat(ids()).containsExactlyInAnyOrderElementsOf(List.<Object>copyOf(returned));
  }

  @Test
  void what_was_sent_and_arrives_when_others_have_stored_and_done_their_jobs_is_not_stored_again()
      throws Exception {
    goTogether();
    List<UUID> returned = List.of(stored.take(), stored.take(), stored.take());
    int ran = tenant.worker().handle(EMAIL, (args, job) -> {}).build().runDue();

    cable.release();
    UUID late = stored.take();

    assertThat(ran).isEqualTo(3);
    assertThat(returned).doesNotContain(late);
    assertThat(ids()).containsExactly(late);
    assertThat(tenant.invariants().check()).isEmpty();
  }

  /** Four, whose jobs the unlucky one sends together. */
  private void goTogether() throws InterruptedException {
    unlucky.start();
    begun.await();
    for (int other = 0; other < 3; other++) {
      Thread waiting = enqueuing();
      waiting.start();
      while (waiting.getState() != Thread.State.TIMED_WAITING) {
        Thread.onSpinWait();
      }
    }
    goOn.countDown();
    silent.await();
  }

  private List<Object> ids() {
    return tenant.query("SELECT id FROM {schema}.job").stream().map(row -> row.get("id")).toList();
  }

  @Test
  void jobs_of_many_threads_are_all_there_when_their_enqueue_returns_and_a_bad_one_alone_fails()
      throws Exception {
    List<HoldfastException> refused = new CopyOnWriteArrayList<>();
    List<String> missing = new CopyOnWriteArrayList<>();
    for (int thread = 0; thread < 8; thread++) {
      int number = thread;
      threads.add(
          Thread.ofVirtual()
              .start(() -> {
                for (int job = 0; job < 25; job++) {
                  // Java takes it for text, PostgreSQL for none that it could store.
                  String args = number == 3 && job == 12 ? "{\"n\": 1" : "{\"n\": 1}";
                  try {
                    Enqueued enqueued =
                        tenant.jobs().enqueue(NewJob.of("email", new Payload(args)));
                    if (tenant.jobs().get(enqueued.id()).isEmpty()) {
                      missing.add(enqueued.id().toString());
                    }
                  } catch (HoldfastException e) {
                    refused.add(e);
                  }
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(missing).isEmpty();
    assertThat(refused).singleElement().satisfies(e -> assertThat(e).hasMessageContaining("JSON"));
    assertThat(tenant.query("SELECT count(*) AS jobs FROM {schema}.job"))
        .containsExactly(Map.of("jobs", 8L * 25 - 1));
  }

  private Thread enqueuing() {
    Thread thread =
        Thread.ofPlatform()
            .unstarted(() -> {
              try {
                stored.add(jobs.enqueue(JOB).id());
              } catch (RuntimeException e) {
                // The one that is cut off when the test is over.
              }
            });
    threads.add(thread);
    return thread;
  }
}
