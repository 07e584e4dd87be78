package dev.holdfast.fault;

import dev.holdfast.fault.Point.Kind;
import dev.holdfast.rig.Proxies;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.postgresql.PGConnection;

/**
 * A pool whose connections fail as a script says, and which sees whether its users treat them well:
 * give all back, not in the middle of a transaction, and leave alone what failed. Faults are real:
 * the server raises errors itself, and a lost connection is gone on both ends before anybody hears
 * of it. Thread-safe: its own lock guards everything.
 */
public final class FaultyPool implements AutoCloseable {

  private static final long PATIENCE_NANOS = 20_000_000_000L;

  private final String jdbcUrl;
  private final Optional<Thread> owner;
  private final Connection watch;
  private final PreparedStatement isThere;
  private final Deque<Connection> idle = new ArrayDeque<>();
  private final List<Point> passed = new ArrayList<>();
  private final List<String> complaints = new ArrayList<>();
  private final Map<Fault, Integer> struck = new EnumMap<>(Fault.class);
  private Optional<Connection> readOnly = Optional.empty();
  private Script script = Script.NOTHING;
  private Runnable afterCommit = () -> {};
  private int lent;

  private FaultyPool(String jdbcUrl, Optional<Thread> owner) throws SQLException {
    this.jdbcUrl = jdbcUrl;
    this.owner = owner;
    this.watch = DriverManager.getConnection(jdbcUrl);
    this.isThere = watch.prepareStatement("SELECT FROM pg_stat_get_activity(?)");
  }

  public static FaultyPool forEverybody(String jdbcUrl) throws SQLException {
    return new FaultyPool(jdbcUrl, Optional.empty());
  }

  /** Others get no connection, so that what runs beside is neither counted nor hit. */
  static FaultyPool forThisThread(String jdbcUrl) throws SQLException {
    return new FaultyPool(jdbcUrl, Optional.of(Thread.currentThread()));
  }

  public DataSource dataSource() {
    return Proxies.make(
        DataSource.class,
        (method, arguments) -> {
          if (!method.getName().equals("getConnection")) {
            throw new UnsupportedOperationException(method.getName());
          }
          return borrow();
        });
  }

  /** From now on things go wrong as this says; points are counted from here. */
  public synchronized void play(Script script) {
    this.script = script;
    readOnly = Optional.empty();
    passed.clear();
    struck.clear();
  }

  /** Nothing goes wrong any more; answers how often what did. */
  public synchronized Map<Fault, Integer> heal() {
    script = Script.NOTHING;
    return new EnumMap<>(struck);
  }

  synchronized void onCommit(Runnable look) {
    afterCommit = look;
  }

  /** The points passed since {@link #play}. */
  synchronized List<Point> passed() {
    return List.copyOf(passed);
  }

  /** How many connections are not given back. */
  synchronized int lent() {
    return lent;
  }

  /** What users did wrong with their connections, told once. */
  synchronized List<String> complaints() {
    List<String> told = List.copyOf(complaints);
    complaints.clear();
    return told;
  }

  synchronized void complain(String what) {
    complaints.add(what);
  }

  /** As if it led to a standby. */
  synchronized void leadsNowhere(Connection physical) {
    readOnly = Optional.of(physical);
  }

  /** Whether a connection that turned out to lead to a standby could be used again. */
  synchronized boolean keepsReadOnly() throws SQLException {
    return readOnly.isPresent() && !readOnly.get().isClosed();
  }

  // A handler waits for the thread that reports for it.
  private boolean isOwners(Thread thread) {
    return owner.orElseThrow().equals(thread) || thread.getName().equals("holdfast-report");
  }

  private Connection borrow() throws SQLException {
    if (owner.isPresent() && !isOwners(Thread.currentThread())) {
      throw new SQLException("connections are for " + owner.get() + " only", "08001");
    }
    Planned planned = pass(new Point(Kind.BORROW, "", false));
    if (planned.before.isPresent()) {
      boolean tooMany = planned.before.get() == Fault.TOO_MANY_CONNECTIONS;
      throw new SQLException("no connection, says the rig", tooMany ? "53300" : "08001");
    }
    return new Lent(this, take()).connection();
  }

  private synchronized Connection take() throws SQLException {
    lent++;
    return idle.isEmpty() ? DriverManager.getConnection(jdbcUrl) : idle.pop();
  }

  synchronized void giveBack(Connection physical) throws SQLException {
    lent--;
    if (!physical.isClosed()) {
      idle.push(physical);
    }
  }

  /** What is to go wrong at a point. */
  record Planned(Optional<Fault> before, Optional<Fault> after) {}

  synchronized Planned pass(Point point) {
    int number = passed.size();
    passed.add(point);
    Planned planned =
        new Planned(
            script.at(number, point, Moment.BEFORE).filter(f -> point.allows(Moment.BEFORE, f)),
            script.at(number, point, Moment.AFTER).filter(f -> point.allows(Moment.AFTER, f)));
    planned.before.or(() -> planned.after).ifPresent(fault -> struck.merge(fault, 1, Integer::sum));
    return planned;
  }

  void committed(Point point) {
    Runnable look;
    synchronized (this) {
      look = afterCommit;
    }
    if (point.commits()) {
      look.run();
    }
  }

  /** Closes the connection on this end and waits until the server has noticed. */
  synchronized void lose(Connection physical) throws SQLException {
    int pid = physical.unwrap(PGConnection.class).getBackendPID();
    physical.abort(Runnable::run);
    awaitGone(pid);
  }

  private void awaitGone(int pid) throws SQLException {
    isThere.setInt(1, pid);
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (isThere()) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("backend " + pid + " does not end");
      }
      Thread.onSpinWait();
    }
  }

  /** Has the server end the session and waits until it is gone; its user hears of it later. */
  synchronized void terminate(Connection physical) throws SQLException {
    int pid = physical.unwrap(PGConnection.class).getBackendPID();
    try (Statement statement = watch.createStatement()) {
      statement.execute("SELECT pg_terminate_backend(" + pid + ")");
    }
    awaitGone(pid);
  }

  private boolean isThere() throws SQLException {
    try (ResultSet rows = isThere.executeQuery()) {
      return rows.next();
    }
  }

  @Override
  public synchronized void close() throws SQLException {
    while (!idle.isEmpty()) {
      idle.pop().close();
    }
    watch.close();
  }
}
