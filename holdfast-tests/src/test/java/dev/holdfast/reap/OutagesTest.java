package dev.holdfast.reap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.tenant.Tenants;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What reapers know of the time before them. Time passes by moving what is written down back. */
class OutagesTest {

  private static final AtomicInteger NUMBER = new AtomicInteger();

  // Long, so that a busy machine is never late.
  private static final Duration PERIOD = Duration.ofMinutes(1);
  private static final Duration LATE = PERIOD.multipliedBy(4);
  private static final Duration LEASE = Duration.ofMinutes(10);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration UP = Duration.ofDays(30);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  // A control schema of its own: in that of the others somebody comes through all the time.
  private final SchemaName schema = new SchemaName("outages_" + NUMBER.incrementAndGet());
  private final Tenants control = new Tenants(TestDatabase.shared().dataSource(), schema);
  private final Db db = control.control();
  private final Outages outages = node();

  @BeforeEach
  void migrate() {
    control.migrate();
  }

  @AfterEach
  void drop() {
    execute("DROP SCHEMA {schema} CASCADE");
  }

  @Test
  void of_the_time_before_the_first_round_of_all_nobody_knows_anything() {
    isAbout(PERIOD, awayWithin(PERIOD));
    pass(PERIOD);
    isAbout(Duration.ZERO, awayWithin(PERIOD));
    isAbout(PERIOD.multipliedBy(2), awayWithin(PERIOD.multipliedBy(3)));
  }

  @Test
  void when_reapers_come_late_the_database_counts_as_away_since_one_came_last() {
    comeRegularly(HOUR);
    isAbout(Duration.ZERO, awayWithin(HOUR));

    pass(LATE); // the database was away, or all reapers asleep
    isAbout(LATE, awayWithin(HOUR));
    pass(PERIOD);
    isAbout(LATE, awayWithin(HOUR));
    isAbout(PERIOD.multipliedBy(2), awayWithin(PERIOD.multipliedBy(3)));
    isAbout(Duration.ZERO, awayWithin(PERIOD));
  }

  @Test
  void reapers_that_are_always_late_count_the_delay_alone() {
    comeRegularly(HOUR);
    for (int round = 0; round < 10; round++) {
      pass(LATE);
      Duration unused = awayWithin(HOUR);
    }

    isAbout(LATE.multipliedBy(2).plus(PERIOD.multipliedBy(3 * 8)), awayWithin(HOUR));
  }

  @Test
  void an_outage_right_after_another_counts_in_full() {
    comeRegularly(HOUR);
    pass(LATE);
    isAbout(LATE, awayWithin(HOUR));

    pass(LATE);

    isAbout(LATE.multipliedBy(2), node().measure(UP).within(HOUR));
  }

  @Test
  void before_the_server_started_it_was_away() {
    comeRegularly(HOUR);
    pass(LATE);

    isAbout(
        Duration.ofMinutes(8),
        outages.measure(Duration.ofMinutes(2)).within(Duration.ofMinutes(8)));
    isAbout(
        Duration.ofMinutes(3).plus(LATE),
        outages.measure(Duration.ofMinutes(5)).within(Duration.ofMinutes(8)));
  }

  @Test
  void where_any_node_comes_through_the_database_was_there() {
    Outages asleep = node();
    Downtime unused = asleep.measure(UP);
    pass(PERIOD);

    comeRegularly(HOUR);

    isAbout(Duration.ZERO, asleep.measure(UP).within(HOUR));
  }

  @Test
  void a_node_that_is_frozen_in_the_midst_of_a_round_does_not_trust_what_it_knew() {
    AtomicLong nanos = new AtomicLong();
    comeRegularly(HOUR);
    Downtime before = new Outages(db, PERIOD, nanos::get).measure(UP);
    isAbout(Duration.ZERO, before.within(HOUR));

    nanos.addAndGet(LATE.toNanos());

    isAbout(LATE, before.within(HOUR));
    isAbout(Duration.ofSeconds(30), before.within(Duration.ofSeconds(30)));
  }

  @Test
  void a_reaper_that_starts_where_another_was_all_the_time_takes_a_lease_that_ran_out_at_once() {
    comeRegularly(HOUR);
    UUID id = leased();
    comeRegularly(LEASE.plus(PERIOD));
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);

    reap(node());

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
  }

  @Test
  void where_reapers_restart_more_often_than_a_lease_lasts_a_dead_workers_job_is_recovered() {
    comeRegularly(HOUR);
    UUID id = leased();
    Duration passed = Duration.ZERO;
    Duration gaps = Duration.ZERO;

    while (tenant.job(id).state() == JobState.RUNNING && passed.compareTo(HOUR) < 0) {
      Outages shortLived = node();
      for (int round = 0; round < 3; round++) {
        reap(shortLived);
        pass(PERIOD);
        passed = passed.plus(PERIOD);
      }
      pass(LATE.minus(PERIOD));
      passed = passed.plus(LATE.minus(PERIOD));
      gaps = gaps.plus(LATE);
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(passed).isBetween(LEASE, LEASE.plus(gaps).plus(PERIOD));
  }

  @Test
  void after_an_outage_a_reaper_that_starts_then_leaves_each_lease_its_length_to_be_renewed() {
    comeRegularly(HOUR);
    UUID id = leased();
    pass(HOUR);
    Outages started = node();
    Duration up = Duration.ZERO;

    while (tenant.job(id).state() == JobState.RUNNING && up.compareTo(HOUR) < 0) {
      reap(started);
      pass(PERIOD);
      up = up.plus(PERIOD);
    }

    assertThat(up).isBetween(LEASE, LEASE.plus(PERIOD.multipliedBy(2)));
  }

  @Test
  void on_an_installation_that_is_only_just_upgraded_leases_have_their_length_too() {
    UUID id = leased();
    tenant.advance(HOUR);

    reap(node());
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    comeRegularly(LEASE.plus(PERIOD));
    reap(node());

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
  }

  @Test
  void gaps_that_no_lease_is_old_enough_for_are_forgotten_and_count_as_away() {
    comeRegularly(PERIOD);
    pass(LATE);
    comeRegularly(PERIOD);
    assertThat(gaps()).isEqualTo(2); // all that was before the first round is one, too

    pass(Duration.ofDays(3));
    Downtime known = outages.measure(UP);

    assertThat(gaps()).isEqualTo(1);
    isAbout(Duration.ofDays(4), known.within(Duration.ofDays(4)));
  }

  @Test
  void of_the_gaps_before_it_a_gap_leaves_a_thousand() {
    comeRegularly(PERIOD);
    execute(
        """
        INSERT INTO {schema}.outage (since, until)
        SELECT now() - n * interval '1 minute', now() - n * interval '59 seconds'
          FROM generate_series(10, 2000) AS n
        """);

    pass(LATE);
    Duration unused = awayWithin(HOUR);

    assertThat(gaps()).isEqualTo(1_001);
  }

  @Test
  void reapers_do_not_wait_for_one_who_keeps_the_row_and_know_of_the_gap_all_the_same() {
    comeRegularly(HOUR);
    pass(LATE);

    db.inUnhurriedTransaction(frozen -> {
      frozen.execute(db.sql("SELECT at FROM {schema}.reached FOR UPDATE"));
      isAbout(LATE, node().measure(UP).within(HOUR));
      isAbout(LATE, node().measure(UP).within(HOUR));
      return frozen;
    });
    int before = gaps();
    isAbout(LATE, node().measure(UP).within(HOUR));

    assertThat(gaps()).isEqualTo(before + 1);
  }

  @Test
  void however_many_come_through_at_once_after_an_outage_it_is_noted_once() throws Exception {
    comeRegularly(HOUR);
    int before = gaps();
    pass(LATE);
    CyclicBarrier together = new CyclicBarrier(8);
    Callable<Duration> node =
        () -> {
          together.await();
          return node().measure(UP).within(HOUR);
        };

    try (ExecutorService nodes = Executors.newFixedThreadPool(8)) {
      for (Future<Duration> each : nodes.invokeAll(Collections.nCopies(8, node))) {
        isAbout(LATE, each.get());
      }
    }
    assertThat(gaps()).isEqualTo(before + 1);
  }

  @Test
  void a_clock_that_is_set_back_hides_no_outage_after_that() {
    comeRegularly(HOUR);
    pass(HOUR.negated());
    comeRegularly(PERIOD);

    pass(LATE);

    isAbout(LATE, awayWithin(LATE.plus(PERIOD)));
  }

  @Test
  void a_gap_that_a_clock_ahead_of_itself_made_is_forgotten_when_it_is_set_back() {
    comeRegularly(HOUR);
    pass(HOUR);
    isAbout(HOUR, awayWithin(HOUR));

    pass(HOUR.negated().plus(PERIOD));
    comeRegularly(LATE);

    isAbout(Duration.ZERO, awayWithin(LATE));
    assertThat(gaps()).isEqualTo(1); // all that was before the first round
  }

  private Outages node() {
    return new Outages(db, PERIOD, System::nanoTime);
  }

  private void reap(Outages node) {
    // However long the tests' server has been up.
    Function<Duration, Downtime> longUp = serverUp -> node.measure(UP);
    Duration unused =
        new Reapers(each -> new Reaper(each, RandomGenerator.getDefault(), () -> {}), longUp)
            .runOnce(List.of(tenant.tenant()), PERIOD);
  }

  private UUID leased() {
    UUID id = tenant.jobs().enqueue(NewJob.of("email", 1)).id();
    tenant.leases().claim(ClaimRequest.of("worker", Set.of("default"), 1).withLeaseLength(LEASE));
    return id;
  }

  private void comeRegularly(Duration time) {
    Duration unused = awayWithin(HOUR);
    for (long rounds = time.dividedBy(PERIOD); rounds > 0; rounds--) {
      pass(PERIOD);
      unused = awayWithin(HOUR);
    }
  }

  private Duration awayWithin(Duration last) {
    return outages.measure(UP).within(last);
  }

  private void pass(Duration time) {
    String by = "interval '" + time.toSeconds() + " seconds'";
    execute("UPDATE {schema}.reached SET at = at - " + by);
    execute(
        """
        WITH old AS (DELETE FROM {schema}.outage RETURNING since, until)
        INSERT INTO {schema}.outage (since, until) SELECT since - %1$s, until - %1$s FROM old
        """
            .formatted(by));
    tenant.advance(time);
  }

  // The machine's own time passes, too.
  private static void isAbout(Duration expected, Duration actual) {
    assertThat(actual).isBetween(expected.minusSeconds(20), expected.plusSeconds(20));
  }

  private int gaps() {
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql("SELECT count(*) FROM {schema}.outage"))
            .mapTo(Integer.class)
            .one());
  }

  private void execute(String sql) {
    db.useHandle(handle -> handle.execute(db.sql(sql)));
  }
}
