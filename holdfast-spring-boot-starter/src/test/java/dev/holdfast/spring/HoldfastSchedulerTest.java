package dev.holdfast.spring;

import static dev.holdfast.spring.Applications.HELLO;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class HoldfastSchedulerTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void schedules_that_are_beans_are_declared_and_fire() {
    BlockingQueue<String> greeted = new LinkedBlockingQueue<>();
    scheduling()
        .withPropertyValues("spring.application.name=greeter")
        .withBean(
            WorkerCustomizer.class,
            () -> worker -> worker.handle(HELLO, (name, job) -> greeted.add(name)))
        .run(context -> {
          assertThat(tenant.schedules().get("greetings")).isPresent();

          tenant.advance(Duration.ofHours(1));

          assertThat(greeted.take()).isEqualTo("ada");
        });
  }

  @Test
  void a_disabled_scheduler_decides_and_declares_nothing() {
    scheduling()
        .withPropertyValues("holdfast.scheduler.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(HoldfastScheduler.class));

    assertThat(tenant.schedules().get("greetings")).isEmpty();
  }

  @Test
  void a_schedule_outlives_the_last_bean_of_its_application() {
    String application = "spring.application.name=greeter";
    scheduling().withPropertyValues(application).run(context -> assertThat(context).hasNotFailed());

    Applications.of(tenant)
        .withPropertyValues(application, "holdfast.scheduler.enabled=true")
        .run(context ->
            assertThat(tenant.schedules().get("greetings").orElseThrow().schedule().enabled())
                .as("another process of this name may have it")
                .isTrue());
  }

  @Test
  void a_scheduler_may_be_there_for_schedules_that_people_make() {
    Applications.of(tenant)
        .withPropertyValues("holdfast.scheduler.enabled=true")
        .run(context -> assertThat(context.getBean(HoldfastScheduler.class).isRunning()).isTrue());
  }

  @Test
  void schedules_of_an_application_without_a_name_stop_the_start() {
    scheduling()
        .run(context ->
            assertThat(context)
                .getFailure()
                .rootCause()
                .hasMessageStartingWith("spring.application.name is "));
  }

  private ApplicationContextRunner scheduling() {
    return Applications.of(tenant)
        .withBean(
            Schedule.class,
            () -> Schedule.of("greetings", Trigger.every(Duration.ofHours(1)), HELLO.job("ada")));
  }
}
