package dev.holdfast.examples.dailybrief;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.audit.Act;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.schedule.Scheduler;
import dev.holdfast.worker.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The application: makes its tables, declares its schedules, and works until told to end. */
@Command(
    name = "daily-brief",
    description = "Reads feeds, finds events in them, and cleans up, on schedules.",
    mixinStandardHelpOptions = true)
public final class DailyBrief implements Callable<Integer> {

  private static final Logger log = LoggerFactory.getLogger(DailyBrief.class);

  private static final Act OURS = Act.by("daily-brief");

  // A worker keeps three to itself; the rest is for its handlers and the scheduler.
  private static final int CONNECTIONS = 10;

  private static final String ADD_SOURCE =
      """
      INSERT INTO {schema}.rss_sources (rss_url) VALUES (:rss_url) ON CONFLICT DO NOTHING
      """;

  @Option(
      names = "--database-url",
      required = true,
      description = "postgresql://user:password@host:5432/database, or a JDBC address.")
  private String databaseUrl = "";

  @Option(names = "--feed", paramLabel = "URL", description = "Adds this feed to those it reads.")
  private List<String> feeds = new ArrayList<>();

  @Option(
      names = "--run",
      paramLabel = "SCHEDULE",
      description = "Runs this one now, too: rss_ingestion, event_clustering, retention_cleanup.")
  private List<String> runs = new ArrayList<>();

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  private static CommandLine commandLine() {
    return new CommandLine(new DailyBrief())
        .setExecutionExceptionHandler((error, command, parsed) -> {
          command.getErr().println("daily-brief: " + error.getMessage());
          return 1;
        });
  }

  @Override
  public Integer call() throws InterruptedException {
    HikariDataSource pool = pool(DatabaseUrl.toJdbc(databaseUrl));
    Holdfast holdfast = Holdfast.on(pool).migrate();
    BriefDatabase db = new BriefDatabase(pool, BriefDatabase.SCHEMA).migrate();
    feeds.forEach(feed -> addSource(db, feed));
    holdfast.schedules().declare("daily-brief", BriefJobs.SCHEDULES);

    Worker worker = BriefJobs.handledBy(holdfast.worker(), db).start();
    Scheduler scheduler = holdfast.scheduler().start();
    endWithTheProcess(scheduler, worker, pool);
    runs.forEach(schedule -> trigger(holdfast, schedule));
    new CountDownLatch(1).await(); // their threads do the rest
    return 0;
  }

  private static HikariDataSource pool(String jdbcUrl) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.setMaximumPoolSize(CONNECTIONS);
    return new HikariDataSource(config);
  }

  private static void addSource(BriefDatabase db, String feed) {
    db.jdbi()
        .useHandle(
            handle -> handle.createUpdate(db.sql(ADD_SOURCE)).bind("rss_url", feed).execute());
  }

  // First nothing new is begun, then what runs may end, and then nobody needs connections.
  private static void endWithTheProcess(Scheduler scheduler, Worker worker, HikariDataSource pool) {
    Thread end =
        new Thread(
            () -> {
              scheduler.close();
              worker.close();
              pool.close();
            },
            "daily-brief-end");
    Runtime.getRuntime().addShutdownHook(end);
  }

  private static void trigger(Holdfast holdfast, String schedule) {
    try {
      holdfast.schedules().trigger(schedule, Optional.empty(), OURS);
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.STATE_CONFLICT) {
        throw e;
      }
      log.info("{} is not run a second time: {}", schedule, e.getMessage());
    }
  }
}
