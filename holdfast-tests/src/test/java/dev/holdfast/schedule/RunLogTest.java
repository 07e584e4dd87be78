package dev.holdfast.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import ch.qos.logback.core.read.ListAppender;
import dev.holdfast.hold.EngineRig;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Progress;
import dev.holdfast.job.SlotKey;
import dev.holdfast.metrics.MicrometerListener;
import dev.holdfast.testkit.Covers;
import dev.holdfast.worker.Worker;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.slf4j.LoggerFactory;

/** Scheduled runs are logged with fields, and measured. */
@Execution(ExecutionMode.SAME_THREAD) // the level belongs to the logger, not to a test
class RunLogTest extends EngineRig {

  private static final Instant SLOT = Instant.parse("2026-03-01T05:00:00Z");
  private static final Kind<Integer> BRIEF = Kind.of("brief", Integer.class);

  private final Logger runs = (Logger) LoggerFactory.getLogger("holdfast.runs");
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

  @BeforeEach
  void listen() {
    runs.setLevel(Level.INFO);
    lines.start();
    runs.addAppender(lines);
  }

  @AfterEach
  void stopListening() {
    runs.detachAppender(lines);
    runs.setLevel(null);
  }

  @Covers("D12")
  @Test
  void start_end_duration_rows_and_errors_are_logged_and_measured() {
    String name = "brief_" + tenant.name();
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    tenant
        .schedules()
        .put(Schedule.of(name, Trigger.cron("@daily"), BRIEF.job(1)).withMaxInstances(2), ADA);
    tenant.schedules().trigger(name, Optional.of(SLOT), ADA);
    tenant.schedules().trigger(name, Optional.of(SLOT.plusSeconds(1)), ADA);
    Worker worker =
        tenant
            .worker()
            .listen(new MicrometerListener(meters))
            .handle(
                BRIEF,
                (args, job) -> {
                  job.progress(Progress.NONE.withProgressCount(17));
                  if (job.slot().orElseThrow().equals(new SlotKey(name, SLOT.plusSeconds(1)))) {
                    throw new IllegalStateException("no feed");
                  }
                })
            .build();

    worker.runDue();

    List<Map<String, String>> said = said(name);
    assertThat(said).hasSize(4);
    assertThat(said.getFirst())
        .containsEntry("scheduled_for", SLOT.toString())
        .containsKeys("job_id", "worker_instance");
    assertThat(said.get(1))
        .containsEntry("outcome", "succeeded")
        .containsEntry("rows_processed", "17")
        .containsKey("duration_ms");
    assertThat(said.get(3))
        .containsEntry("outcome", "failed")
        .containsEntry("scheduled_for", SLOT.plusSeconds(1).toString())
        .containsEntry("error_code", "HANDLER_FAILED");
    assertThat(said.get(3).get("error_message")).contains("no feed");
    assertThat(meters.get("holdfast.schedule.run").tag("schedule", name).timers())
        .extracting(timer -> timer.count())
        .containsExactlyInAnyOrder(1L, 1L);
    assertThat(meters.get("holdfast.schedule.rows").tag("schedule", name).counter().count())
        .isEqualTo(34);
  }

  @Test
  void a_run_whose_start_cannot_be_logged_runs_and_ends() {
    AppenderBase<ILoggingEvent> broken =
        new AppenderBase<>() {
          @Override
          protected void append(ILoggingEvent line) {
            if (line.getFormattedMessage().contains(tenant.name().value())) {
              throw new StackOverflowError("of an appender");
            }
          }
        };
    String name = "unlogged_" + tenant.name();
    tenant.schedules().put(Schedule.of(name, Trigger.cron("@daily"), BRIEF.job(1)), ADA);
    tenant.schedules().trigger(name, Optional.of(SLOT), ADA);
    AtomicInteger count = new AtomicInteger();
    Worker worker = tenant.worker().handle(BRIEF, (args, job) -> count.incrementAndGet()).build();
    broken.start();
    runs.addAppender(broken);

    try {
      assertThatThrownBy(worker::runDue).isInstanceOf(StackOverflowError.class); // at its end
    } finally {
      runs.detachAppender(broken);
    }
    worker.runDue(); // writes down the end

    assertThat(count).hasValue(1);
    assertThat(tenant.query("SELECT state FROM {schema}.job_done"))
        .extracting(row -> row.get("state"))
        .containsExactly("succeeded");
  }

  @Test
  void a_job_that_only_keeps_out_of_a_schedules_way_is_not_one_of_its_runs() {
    String name = "other_" + tenant.name();
    NewJob beside = BRIEF.job(1).withResources("schedule:" + name);
    enqueue(beside.withUniqueKey("slot:" + name));
    enqueue(beside.withUniqueKey("slot:" + name + "@" + SLOT)); // also if it claims to be

    tenant.worker().handle(BRIEF, (args, job) -> {}).build().runDue();

    assertThat(said(name)).isEmpty();
  }

  @Test
  void a_key_that_only_looks_like_a_slots_keeps_no_claim_from_its_jobs() {
    String name = "fake_" + tenant.name();
    NewJob job = BRIEF.job(1).withResources("schedule:" + name, "schedule:");
    enqueue(job.withUniqueKey("slot:" + name + "@tomorrow"));
    enqueue(BRIEF.job(2).withResources("schedule:").withUniqueKey("slot:"));
    List<Integer> ran = new ArrayList<>();
    Worker worker = tenant.worker().handle(BRIEF, (args, each) -> ran.add(args)).build();

    worker.runDue();
    worker.runDue();

    assertThat(ran).containsExactlyInAnyOrder(1, 2);
    assertThat(said(name)).isEmpty();
  }

  private List<Map<String, String>> said(String schedule) {
    return List.copyOf(lines.list).stream()
        .map(RunLogTest::fields)
        .filter(fields -> schedule.equals(fields.get("job_name")))
        .toList();
  }

  private static Map<String, String> fields(ILoggingEvent line) {
    Map<String, String> fields = new TreeMap<>();
    line.getKeyValuePairs().forEach(pair -> fields.put(pair.key, String.valueOf(pair.value)));
    return fields;
  }
}
