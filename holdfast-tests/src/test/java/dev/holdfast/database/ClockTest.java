package dev.holdfast.database;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.audit.Act;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.server.postgres.Cluster;
import dev.holdfast.worker.Worker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers and workers whose clocks are an hour off, or fast, or slow: the database's decides. */
class ClockTest {

  private static final int ROUNDS = Integer.getInteger("holdfast.clock.rounds", 1);
  private static final int JOBS = 20;
  private static final int SLOTS = 7; // the priority of their jobs, and of no other
  private static final Duration LEASE = Duration.ofSeconds(5);
  private static final Duration DELAY = Duration.ofSeconds(2);
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private static final Map<String, String> CLOCKS =
      Map.of("ahead", "+3600s", "behind", "-3600s", "fast", "+1800s x1.1", "slow", "-1800s x0.9");

  // Every column of every table that has a time; what is by a node's clock is wrong by half an hour
  // at least.
  private static final String TIMES =
      """
      SELECT string_agg(
               format('SELECT %L AS place, max(%I) AS latest, min(%I) AS earliest FROM %I.%I',
                      table_name || '.' || column_name, column_name, column_name,
                      table_schema, table_name),
               ' UNION ALL ')
        FROM information_schema.columns
        JOIN information_schema.tables USING (table_schema, table_name)
       WHERE table_schema IN ('holdfast', 'holdfast_default')
         AND table_type = 'BASE TABLE'
         AND data_type = 'timestamp with time zone'
      """;

  @TempDir Path directory;
  private final Map<String, Long> ahead = new ConcurrentHashMap<>(); // of ours, in milliseconds
  private final Map<UUID, Long> stopped = new ConcurrentHashMap<>();
  private final Map<UUID, CountDownLatch> started = new ConcurrentHashMap<>();

  @Test
  @Timeout(value = 1, unit = TimeUnit.HOURS)
  void nodes_whose_clocks_are_wrong_do_everything_at_the_databases_time() throws Exception {
    assumeLibrary();
    for (int round = 0; round < ROUNDS; round++) {
      Path place = Files.createDirectory(directory.resolve("round-" + round));
      List<ClockNode> nodes = new ArrayList<>();
      try (Cluster cluster = Cluster.start(place);
          HikariDataSource pool = pool(cluster)) {
        try {
          Holdfast holdfast = Holdfast.on(pool).migrate();
          for (Map.Entry<String, String> each : CLOCKS.entrySet()) {
            nodes.add(
                ClockNode.start(each.getKey(), each.getValue(), cluster.port(), place, this::hear));
          }
          run(cluster, holdfast, nodes, place);
        } finally {
          for (ClockNode node : nodes) {
            node.close();
          }
        }
      }
    }
  }

  private void run(Cluster cluster, Holdfast holdfast, List<ClockNode> nodes, Path place)
      throws Exception {
    for (ClockNode node : nodes) {
      assertThat(node.address()).isNotEmpty();
    }
    // Or all that follows would prove nothing.
    assertThat(ahead.get("ahead")).isGreaterThan(Duration.ofMinutes(50).toMillis());
    assertThat(ahead.get("behind")).isLessThan(Duration.ofMinutes(-50).toMillis());
    assertThat(ahead.get("fast")).isGreaterThan(Duration.ofMinutes(25).toMillis());
    assertThat(ahead.get("slow")).isLessThan(Duration.ofMinutes(-25).toMillis());
    String began = cluster.ask("SELECT now()");
    holdfast
        .schedules()
        .put(
            Schedule.of(
                "beat",
                Trigger.every(Duration.ofSeconds(2)),
                ClockNode.SLEEP.job(0).withPriority(SLOTS)),
            Act.by("ada"));
    List<UUID> ids = new ArrayList<>();
    for (ClockNode node : nodes) {
      HoldfastClient client =
          HoldfastClient.at(node.address())
              .withToken(
                  Files.readString(place.resolve(node.name()).resolve("admin.token")).strip());
      for (int i = 0; i < JOBS; i++) {
        ids.add(client.enqueue(shortJob(i)).id());
      }
    }

    ids.forEach(id -> assertThat(awaitEnd(holdfast, id).state()).isEqualTo(JobState.SUCCEEDED));

    assertTimes(cluster, began);
    assertSlots(cluster);
    Duration margin = handOver(holdfast, nodes);
    assertThat(holdfast.invariants().check()).isEmpty();
    System.out.printf(
        "Clock: %d nodes, %d jobs, %s slots, handlers stopped %d ms or more before their successor"
            + " began%n",
        nodes.size(),
        ids.size(),
        cluster.ask("SELECT count(*) FROM holdfast_default.slot"),
        margin.toMillis());
  }

  private static NewJob shortJob(int i) {
    PolicyOverrides policy =
        PolicyOverrides.NONE
            .withLeaseLength(LEASE)
            .withRetry(new RetryPolicy.Delays(List.of(DELAY)));
    return switch (i % 4) {
      case 0 -> ClockNode.SLEEP.job(0).withDelay(DELAY).withTags("delayed").withPolicy(policy);
      case 1 -> ClockNode.FAIL_ONCE.job(0).withTags("failed").withPolicy(policy);
      // Longer than its lease, which must be renewed meanwhile.
      case 2 -> ClockNode.SLEEP.job(7_000).withTags("long").withPolicy(policy);
      default -> ClockNode.SLEEP.job(0).withPolicy(policy);
    };
  }

  private static void assertTimes(Cluster cluster, String began) throws SQLException {
    assertThat(
            cluster.ask("SELECT count(*) FROM holdfast_default.job_done WHERE started_at < run_at"))
        .as("started before their time")
        .isEqualTo("0");
    assertThat(
            cluster.ask(
                """
                SELECT count(*) FROM holdfast_default.job_done
                 WHERE 'delayed' = ANY (tags)
                   AND run_at - created_at NOT BETWEEN interval '1.9 s' AND interval '2.1 s'
                """))
        .as("delayed by another clock than the database's")
        .isEqualTo("0");
    assertThat(
            cluster.ask(
                """
                SELECT count(*) FROM holdfast_default.job_done JOIN holdfast_default.attempt
                    ON attempt.job_id = job_done.id
                 WHERE 'failed' = ANY (tags)
                   AND run_at - attempt.finished_at NOT BETWEEN interval '1.9 s' AND interval '2.1 s'
                """))
        .as("tried again by another clock than the database's")
        .isEqualTo("0");
    assertThat(
            cluster.ask(
                """
                SELECT count(*) FROM holdfast_default.job_done
                 WHERE 'long' = ANY (tags) AND attempt <> 1
                """))
        .as("lost their lease")
        .isEqualTo("0");
    assertThat(
            cluster.ask(
                """
                SELECT count(*) FROM holdfast_default.slot
                 WHERE decided_at < scheduled_for
                    OR decided_at > scheduled_for + interval '30 s'
                    OR scheduled_for < '%s'::timestamptz
                """
                    .formatted(began)))
        .as("slots at another time than the database's")
        .isEqualTo("0");
    // Tokens last for years, and sessions for hours, by the database's clock; and the time that no
    // reaper knows of goes back to the beginning.
    assertThat(
            cluster.ask(
                """
                SELECT string_agg(place || ': ' || earliest || ' to ' || latest, ', ')
                  FROM (%s) AS times
                 WHERE place NOT IN ('token.expires_at', 'session.expires_at', 'outage.since')
                   AND (earliest < '%s'::timestamptz - interval '10 min'
                        OR latest > now() + interval '10 min')
                """
                    .formatted(cluster.ask(TIMES), began)))
        .as("times by another clock than the database's")
        .isNull();
  }

  // A slot knows one job, which no other slot knows: constraints see to that. So a second job for a
  // slot is one that no slot knows.
  private static void assertSlots(Cluster cluster) throws SQLException {
    assertThat(cluster.ask("SELECT count(*) FROM holdfast_default.slot WHERE status = 'ran'"))
        .as("slots that ran")
        .isNotEqualTo("0");
    assertThat(
            cluster.ask(
                """
                SELECT count(*) - 1
                       - extract(epoch FROM max(scheduled_for) - min(scheduled_for))::integer / 2
                  FROM holdfast_default.slot
                """))
        .as("slots beyond one for every two seconds")
        .isEqualTo("0");
    assertThat(
            cluster.ask(
                """
                SELECT count(*) FROM holdfast_default.job_all
                 WHERE priority = %d
                   AND NOT EXISTS (SELECT FROM holdfast_default.slot WHERE job_id = job_all.id)
                """
                    .formatted(SLOTS)))
        .as("jobs of slots that know of another one")
        .isEqualTo("0");
  }

  /** Each node is cut off while it has a job; who has it next is here, where time is right. */
  private Duration handOver(Holdfast holdfast, List<ClockNode> nodes) throws Exception {
    List<UUID> ids = new ArrayList<>();
    for (ClockNode node : nodes) {
      UUID id = UUID.randomUUID();
      started.put(id, new CountDownLatch(1));
      ids.add(id);
      holdfast
          .jobs()
          .enqueue(
              ClockNode.SLEEP
                  .job(600_000)
                  .withId(id)
                  .withQueue(node.name())
                  .withPolicy(PolicyOverrides.NONE.withLeaseLength(LEASE)));
    }
    for (UUID id : ids) {
      started.get(id).await();
    }
    Map<UUID, Long> taken = new ConcurrentHashMap<>();
    CountDownLatch all = new CountDownLatch(ids.size());
    try (Worker successor =
        holdfast
            .worker()
            .configure(config ->
                config.withName("successor").withQueues(CLOCKS.keySet().toArray(String[]::new)))
            .handle(
                ClockNode.SLEEP,
                (n, job) -> {
                  taken.put(job.jobId(), System.nanoTime());
                  all.countDown();
                })
            .start()) {
      nodes.forEach(ClockNode::cut);
      all.await();
    }
    long least = Long.MAX_VALUE;
    for (UUID id : ids) {
      assertThat(stopped).as("handlers that stopped by themselves").containsKey(id);
      least = Math.min(least, taken.get(id) - stopped.get(id));
    }
    assertThat(least).as("from a handler's stop to its successor's start").isPositive();
    return Duration.ofNanos(least);
  }

  private void hear(String line) {
    String[] words = line.split(" ", -1);
    if (words[0].equals("clock")) {
      ahead.put(words[1], Long.parseLong(words[2]) - System.currentTimeMillis());
    } else if (words[0].equals("end")) {
      stopped.put(UUID.fromString(words[1]), System.nanoTime());
    } else if (words[0].equals("start")) {
      started.computeIfAbsent(UUID.fromString(words[1]), id -> new CountDownLatch(1)).countDown();
    }
  }

  private static Job awaitEnd(Holdfast holdfast, UUID id) {
    long began = System.nanoTime();
    Job job = holdfast.jobs().get(id).orElseThrow();
    while (!job.state().isFinished()) {
      if (System.nanoTime() - began > PATIENCE.toNanos()) { // by another clock it may be for hours
        throw new AssertionError("does not come to its end: " + job);
      }
      Waiting.until(System.nanoTime(), PAUSE);
      job = holdfast.jobs().get(id).orElseThrow();
    }
    return job;
  }

  private static void assumeLibrary() {
    boolean isThere = Files.exists(ClockNode.LIBRARY);
    if ("true".equals(System.getenv("CI"))) {
      assertThat(isThere).as("Debian's package libfaketime is installed").isTrue();
    }
    Assumptions.assumeTrue(isThere, "Debian's package libfaketime is not installed");
  }

  private static HikariDataSource pool(Cluster cluster) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(cluster.jdbcUrl());
    config.setMaximumPoolSize(8);
    return new HikariDataSource(config);
  }
}
