package dev.holdfast.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.EngineRig;
import dev.holdfast.job.Kind;
import dev.holdfast.slot.Slot;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Schedules of a tenant whose clock stands still, ticked by hand. */
abstract class SlotsRig extends EngineRig {

  static final Kind<Integer> BRIEF = Kind.of("brief", Integer.class);
  static final Schedule MINUTELY = Schedule.of("brief", Trigger.cron("* * * * *"), BRIEF.job(1));

  // Or a minute could begin between two lines of a test, and bring a slot along.
  @BeforeEach
  void stopTheClock() {
    tenant.stopClock();
  }

  @AfterEach
  void isSound() {
    assertThat(tenant.invariants().check()).isEmpty();
  }

  void conflict(String words, Optional<Instant> slot) {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> tenant.schedules().trigger("brief", slot, ADA))
        .withMessageContaining(words)
        .satisfies(refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.STATE_CONFLICT));
  }

  void tick() {
    tenant.advance(Duration.ofMinutes(1));
    tenant.scheduler().runOnce();
  }

  Slot slot() {
    return slots().getFirst();
  }

  List<Slot> slots() {
    return tenant.schedules().slots("brief", Optional.empty(), 1_000);
  }

  List<Map<String, Object>> runs() {
    return tenant.query("SELECT * FROM {schema}.job_runs ORDER BY scheduled_for");
  }
}
