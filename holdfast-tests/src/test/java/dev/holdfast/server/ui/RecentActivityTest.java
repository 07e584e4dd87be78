package dev.holdfast.server.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.overview.Counters;
import dev.holdfast.server.ui.RecentActivity.Beat;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RecentActivityTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  @Test
  void rates_are_those_between_two_samples_whatever_jobs_end_as() {
    RecentActivity activity = new RecentActivity();
    activity.add(new Counters(START, 100, 10, 50, 7), Optional.empty());

    activity.add(new Counters(START.plusSeconds(10), 120, 15, 80, 10), Optional.empty());

    assertThat(activity.beats(10))
        .containsExactly(new Beat(START.plusSeconds(10), 2, 0.5, 3, 1, Optional.empty()));
  }

  @Test
  void counters_that_were_reset_are_no_negative_rates() {
    RecentActivity activity = new RecentActivity();
    activity.add(new Counters(START, 100, 10, 50, 0), Optional.empty());

    activity.add(new Counters(START.plusSeconds(10), 1, 0, 1, 0), Optional.empty());

    assertThat(activity.beats(10))
        .containsExactly(new Beat(START.plusSeconds(10), 0, 0, 0, 0, Optional.empty()));
  }
}
