package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.lease.LanePositions.Position;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LanePositionsTest {

  private static final long CHEAP = Duration.ofMillis(1).toNanos();
  private static final long DEAR = Duration.ofMillis(30).toNanos();

  private final AtomicLong nanoTime = new AtomicLong();
  private final LanePositions positions = new LanePositions(nanoTime::get);
  private final Position reached = new Position(7, Instant.parse("2026-01-01T00:00:00Z"), 42);

  @Test
  void while_the_start_of_a_lane_is_cheap_to_reach_every_claim_begins_there() {
    positions.note(List.of(), List.of(reached), CHEAP);

    assertThat(positions.next()).isEmpty();
  }

  @Test
  void after_a_dear_claim_from_the_start_the_next_ones_begin_where_it_ended() {
    positions.note(List.of(), List.of(reached), DEAR);

    assertThat(positions.next()).containsExactly(reached);
  }

  @Test
  void claims_return_to_the_start_within_two_seconds_however_dear_it_is() {
    positions.note(List.of(), List.of(reached), Duration.ofSeconds(10).toNanos());

    nanoTime.addAndGet(Duration.ofSeconds(2).toNanos());

    assertThat(positions.next()).isEmpty();
  }

  @Test
  void the_return_to_the_start_takes_a_fiftieth_of_the_time_at_most() {
    positions.note(List.of(), List.of(reached), DEAR);

    nanoTime.addAndGet(DEAR * 49);
    assertThat(positions.next()).isNotEmpty();
    nanoTime.addAndGet(DEAR);
    assertThat(positions.next()).isEmpty();
  }

  @Test
  void a_claim_from_a_position_moves_it_on() {
    Position further = new Position(7, reached.runAt().plusSeconds(1), 50);
    positions.note(List.of(), List.of(reached), DEAR);

    positions.note(List.of(reached), List.of(further), CHEAP);

    assertThat(positions.next()).containsExactly(further);
  }
}
