package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.job.Kind;
import dev.holdfast.lease.Consequences;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.wake.Bell;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A worker knows since when it has had permits that no job wanted. */
class IdleTest {

  private static final Kind<Integer> NOOP = Kind.of("noop", Integer.class);

  private static final long NANOS_PER_HOUR = Duration.ofHours(1).toNanos();

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final AtomicLong hours = new AtomicLong();
  private final Idle idle = new Idle();
  private final CountDownLatch over = new CountDownLatch(1);

  /** What a claim brought, and whether the worker counted as idle after it. */
  private record Claim(int jobs, boolean idle) {}

  private final BlockingQueue<Claim> claims = new LinkedBlockingQueue<>();

  @Test
  void it_is_idle_while_claims_bring_less_than_it_could_take() throws Exception {
    try (Worker worker = start(2, TransitionHook.NONE)) {
      assertThat(claims.take()).isEqualTo(new Claim(0, true));
      tenant.jobs().enqueue(NOOP.job(1));
      assertThat(claimOfSome()).isEqualTo(new Claim(1, true));
      Duration before = idle.length().orElseThrow();

      tenant.jobs().enqueue(NOOP.job(2));

      assertThat(claimOfSome()).isEqualTo(new Claim(1, false)); // the last permit
      assertThat(before).isPositive();
      over.countDown();
    }
  }

  @Test
  void a_worker_whose_claims_fail_is_not_idle() throws Exception {
    BlockingQueue<Boolean> seen = new LinkedBlockingQueue<>();
    CountDownLatch again = new CountDownLatch(2);
    TransitionHook failing =
        (connection, moved) -> {
          seen.add(idle.length().isPresent());
          again.countDown();
          if (again.getCount() > 0) {
            throw new IllegalStateException("the first time");
          }
        };
    over.countDown();
    try (Worker worker = start(2, failing)) {
      assertThat(claims.take()).isEqualTo(new Claim(0, true));

      tenant.jobs().enqueue(NOOP.job(1));

      again.await();
    }
    assertThat(List.of(seen.take(), seen.take())).containsExactly(true, false);
  }

  private Claim claimOfSome() throws InterruptedException {
    Claim claim = claims.take();
    return claim.jobs == 0 ? claimOfSome() : claim;
  }

  private Worker start(int concurrency, TransitionHook hook) {
    PgLeases leases =
        new PgLeases(
            tenant.tenant(),
            Set::of,
            new LanePositions(() -> hours.addAndGet(NANOS_PER_HOUR)), // claims begin at the start
            () -> 0,
            Consequences.of(() -> {}, hook));
    WorkerListener listener =
        new WorkerListener() {
          @Override
          public void claimed(int jobs, Duration took) {
            claims.add(new Claim(jobs, idle.length().isPresent()));
          }
        };
    WorkerDependencies dependencies =
        new WorkerDependencies(leases, leases, new Bell(), List.of(), () -> false, idle);
    return new WorkerBuilder(new JacksonCodec(), (config, kinds, listening) -> dependencies)
        .configure(
            config -> config.withConcurrency(concurrency).withPollInterval(Duration.ofMillis(20)))
        .listen(listener)
        .handle(NOOP, (number, context) -> over.await())
        .start();
  }
}
