package dev.holdfast.server.postgres;

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
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real PostgreSQL in the data directory: durable, with a password, on the loopback address. It
 * ends with the server. One that outlived a killed server is stopped and started again, and one
 * that ended by itself is restarted until it runs, because a full disk may prevent that for a
 * while. Close it when done.
 */
public final class EmbeddedPostgres implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(EmbeddedPostgres.class);

  private static final int PASSWORD_BYTES = 32;
  private static final int PAUSE_SECONDS = 2;
  private static final Duration ENDS_WITHIN = Duration.ofSeconds(60);

  // What is acknowledged must survive, so the start fails if one of these is off.
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

  private final DataDirectory data;
  private final DirectoryLock lock;
  private final Commands commands;
  private final Access access;
  private final ReentrantLock starting = new ReentrantLock(); // nothing is started once closed
  private boolean closed; // guarded by starting

  private EmbeddedPostgres(DataDirectory data, DirectoryLock lock) throws IOException {
    this.data = data;
    this.lock = lock;
    this.commands =
        new Commands(Binaries.in(data.root(), programs -> refuseAnotherVersion(data, programs)));
    this.access = new Access(freePort(), password(data.password()));
  }

  /** Starts the database, and creates it if necessary; it accepts connections when this returns. */
  public static EmbeddedPostgres start(Path directory) {
    DataDirectory data = DataDirectory.of(directory);
    data.refuseUnfinishedRestore();
    try {
      Files.createDirectories(data.root());
      DirectoryLock lock = DirectoryLock.take(data.root());
      try {
        return start(data, lock);
      } catch (IOException | RuntimeException e) {
        lock.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot use the data directory " + directory, e);
    }
  }

  /** Starts the database for a caller that has the lock; closing the database releases the lock. */
  static EmbeddedPostgres start(DataDirectory data, DirectoryLock lock) throws IOException {
    EmbeddedPostgres postgres = new EmbeddedPostgres(data, lock);
    try {
      postgres.boot();
      return postgres;
    } catch (IOException | RuntimeException e) {
      postgres.close(); // leaves nothing running
      throw e;
    }
  }

  private void boot() throws IOException {
    if (!Files.exists(data.cluster())) {
      init();
    }
    stopLeftover();
    startServer();
    checkDurable();
    createDatabase();
    superviseServer();
  }

  /** Access to the database of a directory, if it runs. */
  public static Optional<Access> running(Path directory) {
    return DataDirectory.of(directory).running();
  }

  public String jdbcUrl() {
    return access.jdbcUrl();
  }

  public String user() {
    return access.user();
  }

  public String password() {
    return access.password();
  }

  /** A source of unpooled connections to the database with the jobs. */
  public DataSource dataSource() {
    return access.dataSource();
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

  private static void refuseAnotherVersion(DataDirectory data, Commands programs)
      throws IOException {
    if (data.hasDatabase()) {
      String made = data.majorVersion();
      String ours = programs.majorVersion();
      if (!ours.equals(made)) {
        throw HoldfastException.badConfig(
            "--data",
            data.root(),
            ("a directory of PostgreSQL %s; this one was made by %s: start it with the Holdfast"
                    + " that made it, and move its jobs as docs/operations.md says")
                .formatted(ours, made));
      }
    }
  }

  private void init() throws IOException {
    log.info("Making a database in {}", data.cluster());
    Path draft = data.root().resolve("database.new");
    Directories.remove(draft); // left by a start that was killed
    commands.run(
        "initdb",
        "--pgdata=" + draft,
        "--username=" + Access.USER,
        "--pwfile=" + data.password(),
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        "--data-checksums");
    Files.move(draft, data.cluster(), StandardCopyOption.ATOMIC_MOVE);
  }

  // We have the directory's lock, so the server that started this database has died without
  // stopping it.
  private void stopLeftover() {
    data.postmaster()
        .ifPresent(process -> {
          log.info("Ending the database that an earlier server left behind");
          stopServer(ENDS_WITHIN);
        });
  }

  private void startServer() {
    StringBuilder options = new StringBuilder("-c port=" + access.port());
    SETTINGS.forEach(setting -> options.append(" -c ").append(setting));
    commands.run(
        "pg_ctl",
        "start",
        "--pgdata=" + data.cluster(),
        "--log=" + data.log(),
        "--wait",
        "--timeout=120",
        "--options=" + options);
  }

  private void stopServer(Duration endsWithin) {
    try {
      stopServer("fast", endsWithin);
    } catch (HoldfastException e) {
      if (data.postmaster().isEmpty()) {
        return; // it ended by itself meanwhile
      }
      // Nothing is lost: the next start recovers from the write-ahead log.
      log.warn("The database does not end in good order; ending it at once", e);
      stopServer("immediate", ENDS_WITHIN);
    }
  }

  private void stopServer(String mode, Duration endsWithin) {
    commands.run(
        "pg_ctl",
        "stop",
        "--pgdata=" + data.cluster(),
        "--mode=" + mode,
        "--wait",
        "--timeout=" + endsWithin.toSeconds());
  }

  private void superviseServer() {
    data.postmaster()
        .ifPresent(process -> {
          var unused = process.onExit().thenAccept(ended -> startAgain());
        });
  }

  private void startAgain() {
    log.warn("The database has ended; starting it again");
    startAgain(1);
  }

  private void startAgain(int tries) {
    starting.lock();
    try {
      if (closed) {
        return;
      }
      startServer();
      superviseServer();
      log.info("The database runs again");
    } catch (HoldfastException e) {
      if (tries == 1) { // logged once: it may last until space is freed on the disk
        log.error("The database does not start again, and is tried again; see {}", data.log(), e);
      }
      CompletableFuture.delayedExecutor(PAUSE_SECONDS, TimeUnit.SECONDS)
          .execute(() -> startAgain(tries + 1));
    } finally {
      starting.unlock();
    }
  }

  private void checkDurable() {
    for (String setting : DURABLE) {
      String value = access.ask("SHOW " + setting);
      if (!value.equals("on")) {
        throw HoldfastException.badConfig(
            setting, value, "on; see postgresql.conf in " + data.cluster());
      }
    }
  }

  private void createDatabase() {
    String there =
        access.ask("SELECT count(*) FROM pg_database WHERE datname = '" + Access.DATABASE + "'");
    if (there.equals("0")) {
      access.execute("CREATE DATABASE " + Access.DATABASE);
    }
  }

  /**
   * Stops the database in good order: open transactions are rolled back, everything else is on
   * disk.
   */
  @Override
  public void close() {
    close(ENDS_WITHIN);
  }

  /** The same, with a limit for how long a stop in good order may take. */
  void close(Duration endsWithin) {
    starting.lock();
    try {
      closed = true;
      if (data.postmaster().isPresent()) {
        stopServer(endsWithin);
      }
      lock.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      starting.unlock();
    }
  }
}
