package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Kind;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The database is away when a worker starts. */
class RepeatedStartTest {

  private static final Kind<Integer> COUNT = Kind.of("count", Integer.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final AtomicBoolean away = new AtomicBoolean();

  @Test
  void a_start_that_failed_can_be_repeated() throws Exception {
    CountDownLatch ran = new CountDownLatch(1);
    try (Worker worker =
        Holdfast.on(sometimesAway())
            .worker(tenant.name())
            .handle(COUNT, (number, job) -> ran.countDown())
            .build()) {
      away.set(true);
      assertThatThrownBy(worker::start).isInstanceOf(HoldfastException.class);
      away.set(false);
      tenant.jobs().enqueue(COUNT.job(1));

      worker.start();

      ran.await();
    }
    assertThat(tenant.query("SELECT state FROM {schema}.job_done"))
        .extracting(job -> job.get("state"))
        .containsExactly("succeeded");
  }

  private DataSource sometimesAway() {
    DataSource real = TestDatabase.shared().dataSource();
    return (DataSource)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, args) -> {
              if (method.getName().equals("getConnection") && away.get()) {
                throw new SQLException("the database is away", "08001");
              }
              return method.invoke(real, args);
            });
  }
}
