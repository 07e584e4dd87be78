package dev.holdfast.tenant;

import org.jdbi.v3.core.HandleScope;
import org.jdbi.v3.core.extension.HandleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Left to itself, JDBI lets whatever runs on a thread join the transaction that is open there. A
 * handler's checkpoint would then commit with the handler's own transaction, and a lane made on the
 * way would vanish with somebody's rollback. Here every use gets a connection of its own.
 */
final class NoSharing implements HandleScope {

  @Override
  public @Nullable HandleSupplier get() {
    return null;
  }

  @Override
  public void set(HandleSupplier handle) {
    // Nobody will ask for it.
  }

  @Override
  public void clear() {
    // Nothing was kept.
  }
}
