package dev.holdfast.wake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.job.NewJob;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.postgresql.ds.PGSimpleDataSource;

@Timeout(60)
class AnnouncerTest {

  private static final int MOST_WAITS = 20; // of half a second

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final AtomicBoolean broken = new AtomicBoolean();
  private final CountDownLatch failed = new CountDownLatch(1);

  @Test
  void other_processes_hear_of_work_again_after_the_pool_threw_an_error() throws Exception {
    CountDownLatch heard = new CountDownLatch(1);
    Bell bell = new Bell();
    Channel channel = Channel.of(tenant.holdfast().tenants().control().schema());
    Holdfast announcing = Holdfast.builder(failingForAnnouncers()).build();
    announcing.jobs(tenant.name()); // looks for the tenant
    broken.set(true);
    announcing.jobs(tenant.name()).enqueue(NewJob.of("kind", 1));
    failed.await();
    broken.set(false);

    try (AutoCloseable unused = bell.onRing(name -> heardOf(name, heard));
        Listener listener = new Listener(direct(), channel, bell)) {
      listener.runOnce();
      for (int wait = 0; wait < MOST_WAITS && heard.getCount() > 0; wait++) {
        announcing.jobs(tenant.name()).enqueue(NewJob.of("kind", 2));
        listener.runOnce();
      }
    }

    assertThat(heard.getCount()).isZero();
  }

  @Test
  void a_job_of_a_callers_transaction_is_announced_at_its_commit_unless_that_is_switched_off()
      throws Exception {
    DataSource pool = TestDatabase.shared().dataSource();
    Holdfast silent = Holdfast.builder(pool).notifyInTransactions(false).build();
    Holdfast usual = Holdfast.builder(pool).build();
    String channel = Channel.of(usual.tenants().control().schema()).name();
    List<String> heard = new ArrayList<>();

    try (Connection listening = direct().getConnection();
        Statement statement = listening.createStatement()) {
      statement.execute("LISTEN " + channel);
      enqueueInTransaction(silent, pool);
      enqueueInTransaction(usual, pool);
      // They come in the order of the commits.
      for (int wait = 0; wait < MOST_WAITS && heard.isEmpty(); wait++) {
        PGNotification[] more = listening.unwrap(PGConnection.class).getNotifications(500);
        for (PGNotification each : more == null ? new PGNotification[0] : more) {
          if (each.getParameter().startsWith(tenant.name().value() + "@")) {
            heard.add(each.getParameter());
          }
        }
      }
    }

    assertThat(heard).hasSize(1);
  }

  private void enqueueInTransaction(Holdfast holdfast, DataSource pool) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      UUID unused = holdfast.jobs(tenant.name()).enqueue(connection, NewJob.of("kind", 1)).id();
      connection.commit();
    }
  }

  private void heardOf(String name, CountDownLatch heard) {
    if (name.equals(tenant.name().value())) {
      heard.countDown();
    }
  }

  // Notifications do not get through a pooler.
  private static DataSource direct() {
    PGSimpleDataSource direct = new PGSimpleDataSource();
    direct.setUrl(TestDatabase.shared().jdbcUrl());
    return direct;
  }

  /** A pool whose class cannot be loaded whole, as far as announcers see. */
  private DataSource failingForAnnouncers() {
    return new PGSimpleDataSource() {
      private static final long serialVersionUID = 1L;

      @Override
      public Connection getConnection() throws SQLException {
        if (broken.get() && Thread.currentThread().isVirtual()) {
          failed.countDown();
          throw new NoClassDefFoundError("of a pool");
        }
        return TestDatabase.shared().dataSource().getConnection();
      }
    };
  }
}
