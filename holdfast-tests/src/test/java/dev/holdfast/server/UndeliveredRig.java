package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.fault.Fault;
import dev.holdfast.fault.FaultyPool;
import dev.holdfast.fault.Moment;
import dev.holdfast.fault.Point;
import dev.holdfast.job.JobState;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A server to which something happens, or to whoever asks it, while it grants a job. What certainly
 * did not reach its worker goes back at once, at no cost.
 */
abstract class UndeliveredRig {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  final AtomicBoolean struck = new AtomicBoolean();
  private FaultyPool pool;
  HoldfastServer server;
  Caller worker;

  @BeforeEach
  void start() throws Exception {
    pool = FaultyPool.forEverybody(TestDatabase.shared().jdbcUrl());
    server = HoldfastServer.start(TestServer.config(), pool.dataSource(), Map.of());
    worker =
        caller(Optional.of(TestServer.shared().token(Role.WORKER, Optional.of(tenant.name()))));
  }

  @AfterEach
  void isSound() throws Exception {
    server.close();
    pool.close();
    assertThat(tenant.invariants().check()).isEmpty();
  }

  Caller caller(Optional<String> token) {
    return new Caller(server.port().orElseThrow(), token, Optional.of(tenant.name()));
  }

  interface Happening {
    Optional<Fault> happens();
  }

  /** The first time that the server gets there, something happens to it or beside it. */
  void once(Predicate<Point> there, Happening happening) {
    pool.play((number, point, moment) ->
        moment == Moment.BEFORE && there.test(point) && struck.compareAndSet(false, true)
            ? happening.happens()
            : Optional.empty());
  }

  static Optional<Fault> hangUp(RawHttp line) {
    try {
      line.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Optional.empty();
  }

  String schema() {
    return tenant.tenant().db().schema().value();
  }

  boolean claims(Point point) {
    return point.sql().contains("nextval('" + schema() + ".fence')");
  }

  /** The test's own timeout ends a wait in vain. */
  void awaitGivenBack(UUID id) {
    while (tenant.jobs().attempts(id).isEmpty()) {
      Thread.onSpinWait();
    }
  }

  void isBackAtNoCost(UUID id) {
    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(id).attempt()).isZero();
    assertThat(tenant.job(id).lease()).isEmpty();
  }
}
