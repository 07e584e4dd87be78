package dev.holdfast.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.server.notify.Courier;
import dev.holdfast.server.tenancy.OpenTenants;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A note for those who asked, on its way to the job that tells them, and a courier that dies there.
 * That a failure has its note, whatever dies, is among the operations of {@link FaultPointsTest}.
 */
class WebhookFaultsTest {

  private static final List<Fault> FAULTS =
      List.of(Fault.CONNECTION_LOST, Fault.ADMIN_SHUTDOWN, Fault.SERIALIZATION_FAILURE);

  private Ground ground;
  private FaultyPool pool;

  @BeforeEach
  void somebodyAsks() throws SQLException {
    ground = new Ground();
    pool = FaultyPool.forThisThread(Ground.url());
    ground.empty();
  }

  @AfterEach
  void close() throws SQLException {
    pool.close();
    ground.close();
  }

  @Test
  void wherever_a_courier_dies_each_note_becomes_one_message() {
    int points = 0;
    Optional<Dying> unharmed = Optional.empty();
    while (unharmed.isEmpty()) {
      int point = points++;
      unharmed =
          FAULTS.stream()
              .flatMap(fault -> Stream.of(Moment.values()).map(at -> new Dying(point, fault, at)))
              .filter(dying -> !passesOnOnce(dying))
              .findFirst();
    }

    assertThat(points).isGreaterThan(4); // taking the note, looking who asked, the job, the commit
    assertThat(pool.complaints()).isEmpty();
    assertThat(pool.lent()).isZero();
  }

  @Test
  void who_asks_while_notes_are_on_their_way_is_told() {
    ground.execute("UPDATE {schema}.webhook SET events = '{slot_missed}'");
    boolean[] asked = {false};
    pool.play((number, point, moment) -> {
      if (!asked[0] && takesNotes(point)) {
        asked[0] = true;
        ground.execute(
            """
            INSERT INTO {schema}.webhook (name, url, events, secret)
            VALUES ('late', 'http://127.0.0.1/', '{job_failed}', 's3cret')
            """);
        write("job_failed");
      }
      return Optional.empty();
    });
    write("slot_missed");

    courier().runOnce();
    courier().runOnce();

    assertThat(messages()).containsExactlyInAnyOrder("ops slot_missed", "late job_failed");
    assertThat(ground.column("SELECT id::text FROM {schema}.outbox")).isEmpty();
  }

  /** Whether there was something left to do at that point for it to die of. */
  private boolean passesOnOnce(Dying dying) {
    ground.empty();
    write("job_failed");
    pool.play(dying);
    Courier courier = courier();
    courier.runOnce();
    boolean died = !pool.heal().isEmpty();

    courier.runOnce();
    courier().runOnce();

    assertThat(messages()).as(dying.toString()).containsExactly("ops job_failed");
    assertThat(ground.column("SELECT id::text FROM {schema}.outbox")).isEmpty();
    return died;
  }

  private void write(String event) {
    ground.execute(
        """
        INSERT INTO {schema}.outbox (event, detail, at) VALUES ('%s', 'no disk', now())
        """
            .formatted(event));
  }

  private Courier courier() {
    Holdfast holdfast = ground.holdfast(pool.dataSource());
    return new Courier(holdfast, new OpenTenants(holdfast, tenant -> Set::of));
  }

  private List<String> messages() {
    return ground.column(
        """
        SELECT job.args ->> 'webhook' || ' ' || (job.args ->> 'event')
          FROM {schema}.job
          JOIN {schema}.lane ON lane.id = job.lane
         WHERE lane.queue = 'holdfast.webhooks'
        """);
  }

  private boolean takesNotes(Point point) {
    return point.sql().contains(ground.engine().sql("DELETE FROM {schema}.outbox"));
  }

  /** Dies so many points after it began to take notes. */
  private final class Dying implements Script {

    private final int point;
    private final Fault fault;
    private final Moment at;
    private int took = -1;

    Dying(int point, Fault fault, Moment at) {
      this.point = point;
      this.fault = fault;
      this.at = at;
    }

    @Override
    public Optional<Fault> at(int number, Point reached, Moment moment) {
      if (took < 0 && takesNotes(reached)) {
        took = number;
      }
      return took >= 0 && number == took + point && moment == at
          ? Optional.of(fault)
          : Optional.empty();
    }

    @Override
    public String toString() {
      return "%s %s point %d".formatted(fault, at, point);
    }
  }
}
