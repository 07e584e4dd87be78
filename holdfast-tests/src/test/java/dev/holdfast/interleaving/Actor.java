package dev.holdfast.interleaving;

import dev.holdfast.audit.Act;
import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.fleet.Workers;
import dev.holdfast.hold.Resources;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.queue.Acts;
import dev.holdfast.queue.Jobs;
import dev.holdfast.queue.Queues;
import dev.holdfast.queue.WhyNot;
import dev.holdfast.reap.Reaper;
import dev.holdfast.rig.RigConnection;
import dev.holdfast.rig.Tampering;
import dev.holdfast.schedule.Schedules;
import dev.holdfast.schedule.Ticker;
import dev.holdfast.slot.Slots;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.wake.Announcer;
import dev.holdfast.wake.Bell;
import dev.holdfast.wake.Channel;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Somebody who uses the engine on a connection of its own and stops before each statement until it
 * is told to go on. Its fields are guarded by its monitor; the scheduler's thread and its own share
 * them.
 */
final class Actor implements AutoCloseable {

  private static final SchemaName CONTROL = new SchemaName("holdfast");

  /** What one does with the engine. */
  interface Part {
    void play(Actor actor);
  }

  enum Status {
    /** Before its next statement. */
    AT_THE_GATE,
    /** Let go; perhaps it waits for a lock. */
    GOING,
    DONE
  }

  static final Act ADA = Act.by("ada");

  private final RigConnection connection;
  private final int backendPid;
  private final Tenant tenant;
  private final Announcer announcer;
  private final List<Lease> granted = new ArrayList<>();
  private Status status = Status.DONE;
  private boolean mayGo;
  private String next = "";
  private Optional<Throwable> failure = Optional.empty();
  private Optional<Thread> thread = Optional.empty();

  Actor(TenantName name, Tampering tampering) throws SQLException {
    connection =
        new RigConnection(
            TestDatabase.shared().jdbcUrl(),
            tampering,
            Actor::allowedSilence,
            Optional.of(this::stop));
    Tenants tenants = new Tenants(connection, CONTROL);
    tenant = tenants.tenant(name);
    announcer = new Announcer(tenants.control(), Channel.of(CONTROL), new Bell(), false);
    try (Statement statement = physical().createStatement();
        ResultSet pid = statement.executeQuery("SELECT pg_backend_pid()")) {
      pid.next();
      backendPid = pid.getInt(1);
    }
  }

  // An actor is silent while it waits for its turn. On a busy machine that may take longer than the
  // server lets a transaction of Holdfast's be idle.
  private static String allowedSilence(String sql) {
    return sql.replace("idle_in_transaction_session_timeout", "holdfast_rig.ignored");
  }

  private Connection physical() {
    return connection.behindTheGate();
  }

  int backendPid() {
    return backendPid;
  }

  // What an actor plays with is made anew for each play, so that it has no memory.
  PgLeases leases() {
    return new PgLeases(tenant, Set::of, new LanePositions(() -> 0), dice(), () -> {});
  }

  Reaper reaper() {
    return new Reaper(tenant, dice(), () -> {});
  }

  Acts acts() {
    return new Acts(tenant, new JacksonCodec(), announcer, TransitionHook.NONE);
  }

  Resources resources() {
    return new Resources(tenant, announcer);
  }

  Queues queues() {
    return new Queues(tenant, announcer);
  }

  Slots slots() {
    return new Slots(tenant.db());
  }

  Schedules schedules() {
    return new Schedules(tenant, new JacksonCodec(), jobs(), resources());
  }

  Ticker ticker() {
    return new Ticker(tenant, new JacksonCodec(), jobs(), acts());
  }

  Jobs jobs() {
    return new Jobs(
        tenant, new JacksonCodec(), announcer, new WhyNot(tenant, new Workers(tenant.db())));
  }

  private static RandomGenerator dice() {
    return () -> 0;
  }

  synchronized void got(List<Lease> leases) {
    granted.addAll(leases);
  }

  synchronized List<Lease> granted() {
    return List.copyOf(granted);
  }

  void begin(Part part, Instant now) throws SQLException {
    try (Statement statement = physical().createStatement()) {
      statement.execute("SET holdfast_rig.now = '" + now + "'");
    }
    synchronized (this) {
      granted.clear();
      failure = Optional.empty();
      mayGo = false;
      status = Status.GOING;
    }
    Thread own = Thread.ofPlatform().daemon().unstarted(() -> play(part));
    thread = Optional.of(own);
    own.start();
  }

  private void play(Part part) {
    connection.adopt();
    Optional<Throwable> thrown = Optional.empty();
    try {
      part.play(this);
    } catch (RuntimeException | Error e) {
      thrown = Optional.of(e);
    }
    synchronized (this) {
      failure = thrown;
      status = Status.DONE;
      notifyAll();
    }
  }

  private synchronized void stop(String sql) {
    next = sql.strip().lines().findFirst().orElse("");
    status = Status.AT_THE_GATE;
    notifyAll();
    try {
      while (!mayGo) {
        wait();
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted at the gate", e);
    }
    mayGo = false;
    status = Status.GOING;
  }

  /** Its next statement, and no more. */
  synchronized void go() {
    mayGo = true;
    status = Status.GOING;
    notifyAll();
  }

  synchronized Status status() {
    return status;
  }

  synchronized String next() {
    return next;
  }

  synchronized Optional<Throwable> failure() {
    return failure;
  }

  /** True once it is at the gate or done; false when it took longer. */
  synchronized boolean awaitSettled(long millis) throws InterruptedException {
    long deadline = System.nanoTime() + millis * 1_000_000;
    while (status == Status.GOING) {
      long left = (deadline - System.nanoTime() + 999_999) / 1_000_000;
      if (left <= 0) {
        return false;
      }
      wait(left);
    }
    return true;
  }

  void join() throws InterruptedException {
    if (thread.isPresent()) {
      thread.get().join();
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
