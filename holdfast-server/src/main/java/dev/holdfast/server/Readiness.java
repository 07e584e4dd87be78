package dev.holdfast.server;

import dev.holdfast.Holdfast;
import dev.holdfast.doctor.Finding;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds what keeps this node from serving: no database, one that accepts no writes, tables of
 * another version, or its own shutdown. Needs no authentication, so it asks the database at most
 * once a second. Thread-safe.
 */
final class Readiness {

  private static final Duration KEPT = Duration.ofSeconds(1);
  private static final int PATIENCE_SECONDS = 2;
  private static final Refusal UNREACHABLE =
      new Refusal(503, "DATABASE", "The database cannot be reached");
  private static final Refusal DRAINING =
      new Refusal(503, "DRAINING", "This node ends when what runs on it is over");

  private record Known(long atNanos, Optional<Refusal> obstacle) {}

  private final Holdfast holdfast;
  private final BooleanSupplier draining;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable Known last;

  Readiness(Holdfast holdfast, BooleanSupplier draining) {
    this.holdfast = holdfast;
    this.draining = draining;
  }

  Optional<Refusal> obstacle() {
    if (draining.getAsBoolean()) {
      return Optional.of(DRAINING);
    }
    lock.lock();
    try {
      if (last == null || System.nanoTime() - last.atNanos > KEPT.toNanos()) {
        Optional<Refusal> obstacle = soon();
        last = new Known(System.nanoTime(), obstacle);
      }
      return last.obstacle;
    } finally {
      lock.unlock();
    }
  }

  // The pool may wait for a connection longer than a probe waits for its answer.
  private Optional<Refusal> soon() {
    return CompletableFuture.supplyAsync(this::look, Thread::startVirtualThread)
        .completeOnTimeout(Optional.of(UNREACHABLE), PATIENCE_SECONDS, TimeUnit.SECONDS)
        .join();
  }

  private Optional<Refusal> look() {
    try {
      Finding writable = holdfast.doctor(InstantSource.system()).writable();
      if (writable.level() != Finding.Level.OK) {
        return Optional.of(
            new Refusal(503, "DATABASE", "The database takes no writes: " + writable.detail()));
      }
      holdfast.tenants().requireControl();
      holdfast.tenants().open(TenantName.DEFAULT);
      return Optional.empty();
    } catch (HoldfastException e) {
      return Optional.of(
          e.code() == ErrorCode.SCHEMA_MISMATCH
              ? new Refusal(503, e.code().name(), String.valueOf(e.getMessage()))
              : UNREACHABLE);
    }
  }
}
