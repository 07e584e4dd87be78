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
 * A real PostgreSQL in the data directory: durable, with a password, on this machine's own address.
 * It ends with the server; one that outlived a killed server is ended and started anew, and one
 * that ended is started again until it runs: a full disk may keep it from that for a while. Close
 * it when done.
 */
public final class EmbeddedPostgres implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(EmbeddedPostgres.class);

  private static final int PASSWORD_BYTES = 32;
  private static final int PAUSE_SECONDS = 2;
  private static final Duration ENDS_WITHIN = Duration.ofSeconds(60);

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

  private final DataDirectory data;
  private final DirectoryLock lock;
  private final Commands commands;
  private final Access access;
  private final ReentrantLock starting = new ReentrantLock(); // nothing is started once closed
  private boolean closed; // guarded by starting

  private EmbeddedPostgres(DataDirectory data, DirectoryLock lock) throws IOException {
    this.data = data;
    this.lock = lock;
    this.commands = new Commands(Binaries.in(data.root()));
    refuseAnotherVersion();
    this.access = new Access(freePort(), password(data.password()));
  }

  /** Starts it, made if need be; it answers when this returns. */
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

  /** Starts it for whoever has the lock already, which goes with it when it is closed. */
  static EmbeddedPostgres start(DataDirectory data, DirectoryLock lock) throws IOException {
    EmbeddedPostgres postgres = new EmbeddedPostgres(data, lock);
    try {
      postgres.boot();
      return postgres;
    } catch (IOException | RuntimeException e) {
      postgres.close(); // nothing of it is left running
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

  /** The way into the database of a directory, if a server has it running. */
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

  /** Connections to the jobs, each a new one. */
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

  private void refuseAnotherVersion() throws IOException {
    if (data.hasDatabase()) {
      String made = data.majorVersion();
      String ours = commands.majorVersion();
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
    Directories.remove(draft); // a start that was killed left it
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

  // We have the directory's lock, so its server died without ending it.
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
      // Nothing is lost by that: the next start recovers from its log.
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
      if (tries == 1) { // once: it may take until somebody has made room on a disk
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

  /** Ends it in good order: what is under way is rolled back, everything else is on the disk. */
  @Override
  public void close() {
    close(ENDS_WITHIN);
  }

  /** The same for whoever waits less for good order. */
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
