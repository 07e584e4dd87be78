package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import dev.holdfast.testkit.TestTenant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/**
 * Looks for secrets in all that anybody can read: in what it is shown, in the log, in the database
 * and in files.
 */
final class SecretSearch implements AutoCloseable {

  // What must keep a secret to use it, or is stored as it was sent (docs/threat-model.md).
  private static final Set<String> KEEPERS =
      Set.of("webhook.secret", "setting.value", "job.args", "job_done.args");

  private final TestTenant tenant;

  /** By what each is. */
  private final Map<String, String> secrets = new LinkedHashMap<>();

  private final List<String> seen = new ArrayList<>();
  private final Queue<String> logged = new ConcurrentLinkedQueue<>();
  private final AppenderBase<ILoggingEvent> ears =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          if (!event.getThreadName().contains("HttpClient")) { // the tests' own, and not ours
            String thrown =
                event.getThrowableProxy() == null
                    ? ""
                    : ThrowableProxyUtil.asString(event.getThrowableProxy());
            logged.add(event.getLoggerName() + ": " + event.getFormattedMessage() + thrown);
          }
        }
      };
  private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
  private final Logger ours = (Logger) LoggerFactory.getLogger("dev.holdfast");

  /** Listens to the log from now on. */
  SecretSearch(TestTenant tenant) {
    this.tenant = tenant;
    ears.setContext(root.getLoggerContext());
    ears.start();
    root.addAppender(ears);
    ours.setLevel(Level.DEBUG); // what somebody turns on to find out why something does not work
  }

  @Override
  public void close() {
    ours.setLevel(Level.INFO);
    root.detachAppender(ears);
  }

  String plant(String what) {
    String secret = "s3cr3t-" + UUID.randomUUID() + "-" + what.replaceAll("[^a-z0-9]", "");
    secrets.put(what, secret);
    return secret;
  }

  /** One that somebody else has made. */
  String known(String what, String secret) {
    secrets.put(what, secret);
    return secret;
  }

  int planted() {
    return secrets.size();
  }

  /** What anybody could see, and where. */
  void saw(String what) {
    seen.add(what);
  }

  void lookAtLog() {
    logged.forEach(line -> seen.add("in the log: " + line));
  }

  void lookAtDatabase() {
    tables().forEach(row -> seen.add("in the database: " + row));
  }

  /** Every row of the tenant's tables and the control schema's, but what has to keep one. */
  private List<String> tables() {
    Map<String, String> own = columns("holdfast_" + tenant.name());
    Map<String, String> control = columns("holdfast");
    assertThat(own).hasSizeGreaterThan(15).containsKeys("audit", "job_log", "attempt");
    assertThat(control).containsKeys("token", "session", "tenant", "worker", "signature");
    List<String> rows = new ArrayList<>();
    own.forEach((table, names) -> rows.addAll(rows("{schema}." + table, names)));
    control.forEach((table, names) -> rows.addAll(rows("holdfast." + table, names)));
    return rows;
  }

  private Map<String, String> columns(String schema) {
    return tenant
        .query(
            """
            SELECT table_name, column_name FROM information_schema.columns c
              JOIN pg_class ON pg_class.oid = format('%I.%I', table_schema, table_name)::regclass
             WHERE table_schema = '%s' AND relkind IN ('r', 'p')
            """
                .replace("%s", schema))
        .stream()
        .filter(row -> !KEEPERS.contains(row.get("table_name") + "." + row.get("column_name")))
        .collect(
            Collectors.groupingBy(
                row -> String.valueOf(row.get("table_name")),
                Collectors.mapping(
                    row -> "\"" + row.get("column_name") + "\"::text", Collectors.joining(", "))));
  }

  private List<String> rows(String table, String columns) {
    return tenant.query("SELECT concat_ws(' ', " + columns + ") AS row FROM " + table).stream()
        .map(row -> table + ": " + row.get("row"))
        .toList();
  }

  /** All below these, but for one that is there to keep a secret. */
  void lookAtFiles(Path keeper, Path... directories) throws IOException {
    for (Path directory : directories) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file :
            files.filter(Files::isRegularFile).filter(f -> !f.equals(keeper)).toList()) {
          seen.add("file " + file + ": " + new String(Files.readAllBytes(file), UTF_8));
        }
      }
    }
  }

  /** All that was seen, as one text. */
  String everything() {
    return String.join("\n", seen);
  }

  /** Which secrets were seen, and where. */
  List<String> found() {
    List<String> found = new ArrayList<>();
    for (String place : seen) {
      secrets.forEach((what, secret) -> {
        int at = place.indexOf(secret);
        if (at >= 0) {
          String around =
              place.substring(Math.max(0, at - 300), Math.min(place.length(), at + 100));
          found.add(what + " " + place.substring(0, Math.min(80, place.length())) + " … " + around);
        }
      });
    }
    return found;
  }
}
