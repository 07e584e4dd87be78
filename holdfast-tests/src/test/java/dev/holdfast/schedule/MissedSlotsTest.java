package dev.holdfast.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.hold.EngineRig;
import dev.holdfast.job.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whoever asked is to be told of every slot that did not run, for whatever reason. */
class MissedSlotsTest extends EngineRig {

  private static final Kind<Integer> BRIEF = Kind.of("brief", Integer.class);
  private static final Schedule MINUTELY =
      Schedule.of("brief", Trigger.cron("* * * * *"), BRIEF.job(1));

  @BeforeEach
  void somebodyAsks() {
    tenant.stopClock();
    tenant.execute(
        """
        INSERT INTO {schema}.webhook (name, url, events, secret)
        VALUES ('ops', 'http://127.0.0.1/', '{slot_missed}', 's3cret')
        """);
    tenant.schedules().put(MINUTELY, ADA);
    tenant.advance(Duration.ofMinutes(1));
  }

  @Test
  void a_slot_that_ran_in_time_is_not_told() {
    tick();

    assertThat(told()).isEmpty();
  }

  @Test
  void slots_that_were_found_too_late_are_told() {
    tenant.advance(Duration.ofMinutes(10));

    tick();

    assertThat(told()).hasSize(1).first().asString().contains("10 slots", "brief");
  }

  @Test
  void a_slot_whose_job_no_worker_began_in_time_is_told() {
    tick();
    tenant.schedules().enable("brief", false, ADA);
    tenant.advance(Duration.ofMinutes(6));
    tenant.schedules().enable("brief", true, ADA);
    tenant.advance(Duration.ofMinutes(1));

    tick();

    assertThat(told()).hasSize(1).first().asString().contains("brief", "no worker began it");
  }

  @Test
  void a_run_that_was_given_up_is_told() {
    tick();
    claim(1);
    tenant.schedules().enable("brief", false, ADA);
    tenant.advance(Duration.ofMinutes(11));

    tenant.schedules().trigger("brief", Optional.empty(), ADA);

    assertThat(told()).hasSize(1).first().asString().contains("1 runs", "brief", "given up");
  }

  @Test
  void slots_that_were_due_when_their_schedule_was_changed_are_told() {
    tenant.schedules().enable("brief", false, ADA);

    assertThat(told()).hasSize(1).first().asString().contains("1 slots", "brief", "was changed");
  }

  private void tick() {
    tenant.scheduler().runOnce();
  }

  private List<Object> told() {
    return tenant.query("SELECT detail FROM {schema}.outbox WHERE event = 'slot_missed'").stream()
        .map(row -> row.get("detail"))
        .toList();
  }
}
