package dev.holdfast.server.postgres;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real PostgreSQL in the data directory: durable, with a password, on this machine's own address.
 * It ends with the server; one that outlived a killed server is ended and started anew. Close it
 * when done.
 */
public final class EmbeddedPostgres implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(EmbeddedPostgres.class);

  private static final String USER = "holdfast";
  private static final String DATABASE = "holdfast";
  private static final String MAINTENANCE = "postgres";
  private static final int PASSWORD_BYTES = 32;
  private static final Pattern MAJOR = Pattern.compile("PostgreSQL\\) (\\d+)");

  // What is acknowledged must survive; a start without one of these fails.
  private static final List<String> DURABLE =
      List.of("fsync", "synchronous_commit", "full_page_writes");

  private static final List<String> SETTINGS =
      List.of(
          "listen_addresses=127.0.0.1",
          "unix_socket_directories=",
          "max_connections=200",
          "shared_buffers=256MB",
          "max_wal_size=4GB",
          "timezone=UTC",
          "log_timezone=UTC",
          "jit=off");

  private final Path cluster;
  private final Path data;
  private final DirectoryLock lock;
  private final Commands commands;
  private final String password;
  private final int port;
  private volatile boolean closed;

  private EmbeddedPostgres(Path data, DirectoryLock lock) throws IOException {
    this.data = data;
    this.lock = lock;
    this.cluster = data.resolve("database");
    this.commands = new Commands(Binaries.in(data));
    this.password = password(data.resolve("database.password"));
    this.port = freePort();
    refuseAnotherVersion();
    if (!Files.exists(cluster)) {
      init();
    }
    stopLeftover();
    startServer();
    checkDurable();
    createDatabase();
    superviseServer();
  }

  /** Starts it, made if need be; it answers when this returns. */
  public static EmbeddedPostgres start(Path data) {
    try {
      Files.createDirectories(data);
      DirectoryLock lock = DirectoryLock.take(data.toAbsolutePath());
      try {
        return new EmbeddedPostgres(data.toAbsolutePath(), lock);
      } catch (IOException | RuntimeException e) {
        lock.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot use the data directory " + data, e);
    }
  }

  public String jdbcUrl() {
    return "jdbc:postgresql://127.0.0.1:%d/%s".formatted(port, DATABASE);
  }

  public String user() {
    return USER;
  }

  public String password() {
    return password;
  }

  private static String password(Path file) throws IOException {
    if (!Files.exists(file)) {
      byte[] bytes = new byte[PASSWORD_BYTES];
      new SecureRandom().nextBytes(bytes);
      Path draft = file.resolveSibling(file.getFileName() + ".new");
      Files.deleteIfExists(draft);
      Files.createFile(
          draft,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.writeString(draft, HexFormat.of().formatHex(bytes));
      Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    }
    return Files.readString(file).strip();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void refuseAnotherVersion() throws IOException {
    Path version = cluster.resolve("PG_VERSION");
    if (Files.exists(version)) {
      String made = Files.readString(version).strip();
      Matcher ours = MAJOR.matcher(commands.run("postgres", "--version"));
      if (ours.find() && !ours.group(1).equals(made)) {
        throw HoldfastException.badConfig(
            "--data",
            data,
            ("a directory of PostgreSQL %s; this one was made by %s: back it up with the Holdfast that"
                    + " made it, and restore that into a new directory")
                .formatted(ours.group(1), made));
      }
    }
  }

  private void init() throws IOException {
    log.info("Making a database in {}", cluster);
    Path draft = data.resolve("database.new");
    Directories.remove(draft); // a start that was killed left it
    commands.run(
        "initdb",
        "--pgdata=" + draft,
        "--username=" + USER,
        "--pwfile=" + data.resolve("database.password"),
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        "--data-checksums");
    Files.move(draft, cluster, StandardCopyOption.ATOMIC_MOVE);
  }

  // We have the directory's lock, so its server died without ending it.
  private void stopLeftover() {
    postmaster()
        .ifPresent(process -> {
          log.info("Ending the database that an earlier server left behind");
          commands.run("pg_ctl", "stop", "--pgdata=" + cluster, "--mode=fast", "--wait");
        });
  }

  private void startServer() {
    StringBuilder options = new StringBuilder("-c port=" + port);
    SETTINGS.forEach(setting -> options.append(" -c ").append(setting));
    commands.run(
        "pg_ctl",
        "start",
        "--pgdata=" + cluster,
        "--log=" + data.resolve("database.log"),
        "--wait",
        "--timeout=120",
        "--options=" + options);
  }

  /** The process that the database says is its own, if it lives. */
  private Optional<ProcessHandle> postmaster() {
    try {
      Path file = cluster.resolve("postmaster.pid");
      if (!Files.exists(file)) {
        return Optional.empty();
      }
      List<String> lines = Files.readAllLines(file);
      return ProcessHandle.of(Long.parseLong(lines.getFirst().strip()))
          // The number may be another program's by now.
          .filter(process ->
              process.info().command().filter(program -> program.endsWith("postgres")).isPresent());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void superviseServer() {
    postmaster()
        .ifPresent(process -> {
          var unused = process.onExit().thenAccept(ended -> startAgain());
        });
  }

  private void startAgain() {
    if (closed) {
      return;
    }
    log.warn("The database has ended; starting it again");
    try {
      startServer();
      superviseServer();
    } catch (HoldfastException e) {
      log.error("The database does not start again; see {}", data.resolve("database.log"), e);
    }
  }

  private void checkDurable() {
    for (String setting : DURABLE) {
      String value = ask(MAINTENANCE, "SHOW " + setting);
      if (!value.equals("on")) {
        close();
        throw HoldfastException.badConfig(setting, value, "on; see postgresql.conf in " + cluster);
      }
    }
  }

  private void createDatabase() {
    String there =
        ask(MAINTENANCE, "SELECT count(*) FROM pg_database WHERE datname = '" + DATABASE + "'");
    if (there.equals("0")) {
      execute("CREATE DATABASE " + DATABASE);
    }
  }

  private String ask(String database, String sql) {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement();
        ResultSet answer = statement.executeQuery(sql)) {
      answer.next();
      return answer.getString(1);
    } catch (SQLException e) {
      throw new HoldfastException(ErrorCode.UNAVAILABLE, "the database does not answer", e);
    }
  }

  private void execute(String sql) {
    try (Connection connection = connect(MAINTENANCE);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new HoldfastException(ErrorCode.UNAVAILABLE, "the database refused: " + sql, e);
    }
  }

  private Connection connect(String database) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", USER);
    properties.setProperty("password", password);
    return DriverManager.getConnection(
        "jdbc:postgresql://127.0.0.1:%d/%s".formatted(port, database), properties);
  }

  /** Ends it in good order: what is under way is rolled back, everything else is on the disk. */
  @Override
  public void close() {
    closed = true;
    try {
      if (postmaster().isPresent()) {
        commands.run("pg_ctl", "stop", "--pgdata=" + cluster, "--mode=fast", "--wait");
      }
      lock.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
