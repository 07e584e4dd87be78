package dev.holdfast.lockorder;

import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.fleet.Workers;
import dev.holdfast.queue.Jobs;
import dev.holdfast.queue.WhyNot;
import dev.holdfast.rig.RigConnection;
import dev.holdfast.rig.Sandbox;
import dev.holdfast.rig.Tampering;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.Tenants;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.wake.Announcer;
import dev.holdfast.wake.Bell;
import dev.holdfast.wake.Channel;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;

/**
 * Looks into the middle of a statement: somebody has one of the rows that the engine locks, so that
 * it waits there, and a third one asks which of the others it has by then.
 */
final class LockOrder implements AutoCloseable {

  private static final SchemaName CONTROL = new SchemaName("holdfast");
  private static final String NOT_AVAILABLE = "55P03";
  private static final long PATIENCE_NANOS = 20_000_000_000L;

  // Those who do not wait for long would not wait for the third one either.
  private static final String SHORT_WAIT = "coalesce(?, current_setting('lock_timeout'))";
  private static final String ANY_WAIT = "coalesce(left(?, 0) || '0', '0')";

  private final Sandbox sandbox;
  private final RigConnection engine;
  private final int enginePid;
  private final Tenant tenant;
  private final Jobs jobs;
  private final Connection holder;
  private final int holderPid;
  private final Connection witness;
  private final ExecutorService thread = Executors.newSingleThreadExecutor();

  LockOrder(Tampering tampering) throws SQLException {
    String url = TestDatabase.shared().jdbcUrl();
    sandbox = new Sandbox("order", UnaryOperator.identity());
    sandbox.setClock(Ground.NOW);
    engine =
        new RigConnection(
            url, tampering, sql -> sql.replace(SHORT_WAIT, ANY_WAIT), Optional.empty());
    enginePid = pid(engine.behindTheGate());
    Tenants tenants = new Tenants(engine, CONTROL);
    tenant = tenants.tenant(sandbox.tenant().name());
    jobs =
        new Jobs(
            tenant,
            new JacksonCodec(),
            new Announcer(tenants.control(), Channel.of(CONTROL), new Bell(), false),
            new WhyNot(tenant, new Workers(tenants.control())));
    holder = DriverManager.getConnection(url);
    holderPid = pid(holder);
    holder.setAutoCommit(false);
    witness = DriverManager.getConnection(url);
    witness.setAutoCommit(false);
    for (Connection each : List.of(engine.behindTheGate(), holder, witness)) {
      execute(each, "SET SESSION holdfast_rig.now = '" + Ground.NOW + "'");
    }
    holder.commit();
    witness.commit();
  }

  /** Empty when, wherever it is held up, it has all the rows before that one and none after. */
  Optional<String> firstFailure(Locking locking) throws SQLException, InterruptedException {
    for (int place = 0; place < Ground.ROWS; place++) {
      Optional<String> failure = failure(locking, place);
      if (failure.isPresent()) {
        return failure;
      }
    }
    return Optional.empty();
  }

  private Optional<String> failure(Locking locking, int place)
      throws SQLException, InterruptedException {
    sandbox.empty();
    Ground ground = new Ground(sandbox, tenant, jobs);
    List<Row> rows = locking.prepare(ground);
    Row heldUpAt = rows.get(place);
    execute(holder, heldUpAt.take());
    Future<?> locked =
        thread.submit(() -> {
          engine.adopt();
          locking.lock(ground);
        });
    Optional<String> failure;
    try {
      failure =
          waits(locked)
              ? complaint(rows, place)
              : Optional.of("does not wait for " + heldUpAt.name());
    } finally {
      holder.rollback();
    }
    return failure
        .or(() -> thrown(locked))
        .map(how -> "%s %s, whose order is %s".formatted(locking, how, names(rows)));
  }

  /** False when it came to an end. */
  private boolean waits(Future<?> locked) throws SQLException, InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (!isWaiting()) {
      try {
        locked.get(2, TimeUnit.MILLISECONDS);
        return false;
      } catch (ExecutionException e) {
        return false;
      } catch (TimeoutException e) {
        if (System.nanoTime() > deadline) {
          throw new IllegalStateException("neither waits nor ends", e);
        }
      }
    }
    return true;
  }

  private boolean isWaiting() throws SQLException {
    try (Statement statement = witness.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT %d = ANY (pg_blocking_pids(%d))".formatted(holderPid, enginePid))) {
      row.next();
      return row.getBoolean(1);
    }
  }

  private Optional<String> complaint(List<Row> rows, int place) throws SQLException {
    List<Row> taken = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      if (i != place && isTaken(rows.get(i))) {
        taken.add(rows.get(i));
      }
    }
    return taken.equals(rows.subList(0, place))
        ? Optional.empty()
        : Optional.of("waits for %s and has %s".formatted(rows.get(place).name(), names(taken)));
  }

  private boolean isTaken(Row row) throws SQLException {
    try {
      execute(witness, row.ask());
      return false;
    } catch (SQLException e) {
      if (!NOT_AVAILABLE.equals(e.getSQLState())) {
        throw e;
      }
      return true;
    } finally {
      witness.rollback();
    }
  }

  private static Optional<String> thrown(Future<?> locked) {
    try {
      locked.get();
      return Optional.empty();
    } catch (ExecutionException e) {
      return Optional.of("fails with " + e.getCause());
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<String> names(List<Row> rows) {
    return rows.stream().map(Row::name).toList();
  }

  private static int pid(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
      row.next();
      return row.getInt(1);
    }
  }

  private void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sandbox.sql(sql));
    }
  }

  @Override
  public void close() throws SQLException {
    thread.close();
    witness.close();
    holder.close();
    engine.close();
    sandbox.close();
  }
}
