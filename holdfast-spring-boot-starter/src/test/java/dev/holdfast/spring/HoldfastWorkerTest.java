package dev.holdfast.spring;

import static dev.holdfast.spring.Applications.HELLO;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.job.JobState;
import dev.holdfast.tenant.Db;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Handler;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.annotation.Order;

class HoldfastWorkerTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final BlockingQueue<String> greeted = new LinkedBlockingQueue<>();

  @Test
  void handlers_that_are_beans_run() {
    greeting()
        .run(context -> {
          enqueue(context, "ada");

          assertThat(greeted.take()).isEqualTo("ada");
        });
  }

  @Test
  void handlers_come_in_their_order() {
    Applications.of(tenant)
        .withUserConfiguration(Several.class)
        .run(context ->
            assertThat(context.getBean(Several.class).order).containsExactly("first", "second"));
  }

  @Configuration(proxyBeanMethods = false)
  static class Several {

    final List<String> order = new ArrayList<>();

    @Bean
    @Order(2)
    WorkerCustomizer second() {
      return worker -> order.add("second");
    }

    @Bean
    @Order(1)
    WorkerCustomizer first() {
      return worker -> {
        order.add("first");
        worker.handle(HELLO, (name, job) -> {});
      };
    }
  }

  @Test
  void a_disabled_worker_runs_nothing() {
    greeting()
        .withPropertyValues("holdfast.worker.enabled=false")
        .run(context -> {
          assertThat(context).doesNotHaveBean(HoldfastWorker.class);
          assertThat(context).hasSingleBean(TransactionalJobs.class);
        });
  }

  @Test
  void a_worker_is_as_the_properties_say() {
    greeting()
        .withPropertyValues(
            "holdfast.worker.name=greeter",
            "holdfast.worker.queues=mail,calls",
            "holdfast.worker.labels.zone=north")
        .run(context ->
            assertThat(tenant.holdfast().workers().list(tenant.name(), "", 10))
                .singleElement()
                .satisfies(worker -> {
                  assertThat(worker.info().name()).isEqualTo("greeter");
                  assertThat(worker.info().queues()).containsExactlyInAnyOrder("mail", "calls");
                  assertThat(worker.info().labels()).containsEntry("zone", "north");
                }));
  }

  @Test
  void a_stopping_application_lets_a_running_handler_finish_and_leaves_the_rest() {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch closing = new CountDownLatch(1);
    List<UUID> ids = new ArrayList<>();
    handling(
            (name, job) -> {
              started.countDown();
              closing.await();
              job.inTransaction(own -> job.payload("the pool is still there"));
            })
        .withPropertyValues("holdfast.worker.concurrency=1", "holdfast.worker.drain-timeout=100s")
        .withInitializer(context -> context.addApplicationListener(new OnClose(closing)))
        .run(context -> {
          ids.add(enqueue(context, "ada"));
          started.await();
          ids.add(enqueue(context, "bob"));

          close(context);

          assertThat(tenant.job(ids.getFirst()).state()).isEqualTo(JobState.SUCCEEDED);
          assertThat(tenant.job(ids.getLast()).state()).isEqualTo(JobState.QUEUED);
        });
  }

  /** Is told of a context's close before the worker is. */
  private record OnClose(CountDownLatch closing)
      implements ApplicationListener<ContextClosedEvent>, PriorityOrdered {

    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
      closing.countDown();
    }

    @Override
    public int getOrder() {
      return 0;
    }
  }

  @Test
  void a_handler_finds_the_applications_beans_running_while_its_worker_drains() {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch closing = new CountDownLatch(1);
    Connector connector = new Connector();
    List<Boolean> found = new ArrayList<>();
    handling(
            (name, job) -> {
              started.countDown();
              closing.await();
              found.add(connector.isRunning());
            })
        .withBean(Connector.class, () -> connector)
        .withPropertyValues("holdfast.worker.drain-timeout=100s")
        .withInitializer(context -> context.addApplicationListener(new OnClose(closing)))
        .run(context -> {
          UUID id = enqueue(context, "ada");
          started.await();

          close(context);

          assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
          assertThat(found).containsExactly(true);
          assertThat(connector.isRunning()).isFalse();
        });
  }

  /** Has the phase that Spring gives to who asks for none. */
  private static final class Connector implements SmartLifecycle {

    private volatile boolean isRunning;

    @Override
    public void start() {
      isRunning = true;
    }

    @Override
    public void stop() {
      isRunning = false;
    }

    @Override
    public boolean isRunning() {
      return isRunning;
    }
  }

  @Test
  void a_child_context_that_closes_leaves_the_worker_at_work() {
    greeting()
        .run(context -> {
          try (GenericApplicationContext child = new GenericApplicationContext(context)) {
            child.refresh();
          }

          assertThat(context.getBean(HoldfastWorker.class).isRunning()).isTrue();
        });
  }

  @Test
  void a_handler_that_does_not_end_in_time_is_interrupted_and_its_job_handed_back() {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    handling(
            (name, job) -> {
              started.countDown();
              never.await();
            })
        .withPropertyValues("holdfast.worker.drain-timeout=0s")
        .run(context -> {
          UUID id = enqueue(context, "ada");
          started.await();

          close(context);

          assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
        });
  }

  @Test
  void an_application_that_is_started_again_works_again() {
    greeting()
        .run(context -> {
          ConfigurableApplicationContext application = source(context);
          application.stop();
          enqueue(context, "ada");
          assertThat(context.getBean(HoldfastWorker.class).isRunning()).isFalse();

          application.start();

          assertThat(greeted.take()).isEqualTo("ada");
        });
  }

  @Test
  void a_worker_is_measured_where_there_is_micrometer() {
    MeterRegistry meters = new SimpleMeterRegistry();
    greeting()
        .withBean(MeterRegistry.class, () -> meters)
        .run(context -> {
          enqueue(context, "ada");
          assertThat(greeted.take()).isEqualTo("ada");
          close(context); // by now it is measured

          assertThat(meters.get("holdfast.attempt").tag("kind", "hello").timer().count()).isOne();
        });
  }

  @Test
  void health_is_up_while_the_database_hears_of_the_worker() {
    greeting()
        .withPropertyValues("holdfast.worker.name=greeter")
        .run(context -> {
          HoldfastHealth indicator = context.getBean(HoldfastHealth.class);

          assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
          assertThat(indicator.health().getDetails()).containsEntry("worker", "greeter");

          rename("greeter", "somebody else");
          assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
          assertThat(indicator.health().getDetails()).containsEntry("online", false);
        });
  }

  // A beat does not tell a name again, so there is no beat of that name from here on.
  private void rename(String name, String another) {
    Db control = tenant.holdfast().tenants().control();
    control.useHandle(handle ->
        handle.execute(
            control.sql("UPDATE {schema}.worker SET name = ? WHERE name = ? AND tenant = ?"),
            another,
            name,
            tenant.name().value()));
  }

  @Test
  void health_without_a_worker_is_the_databases() {
    Applications.of(tenant)
        .run(context -> {
          HoldfastHealth indicator = context.getBean(HoldfastHealth.class);
          assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);

          context.getBean(HikariDataSource.class).close();
          assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
        });
  }

  private ApplicationContextRunner greeting() {
    return handling((name, job) -> greeted.add(name));
  }

  private ApplicationContextRunner handling(Handler.Simple<String> handler) {
    return Applications.of(tenant)
        .withBean(WorkerCustomizer.class, () -> worker -> worker.handle(HELLO, handler));
  }

  private static UUID enqueue(AssertableApplicationContext context, String name) {
    return context.getBean(TransactionalJobs.class).enqueue(HELLO.job(name)).id();
  }

  private static ConfigurableApplicationContext source(AssertableApplicationContext context) {
    return context.getSourceApplicationContext(ConfigurableApplicationContext.class);
  }

  private static void close(AssertableApplicationContext context) {
    source(context).close();
  }
}
