package dev.holdfast.tenant;

import org.jdbi.v3.core.HandleScope;
import org.jdbi.v3.core.extension.HandleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Gives every use of JDBI a connection of its own. By default JDBI lets everything that runs on a
 * thread join the transaction that is open there. A handler's checkpoint would then commit with the
 * handler's own transaction, and a lane created on the way would vanish with a caller's rollback.
 */
final class NoSharing implements HandleScope {

  @Override
  public @Nullable HandleSupplier get() {
    return null;
  }

  @Override
  public void set(HandleSupplier handle) {
    // Never asked for.
  }

  @Override
  public void clear() {
    // Nothing was kept.
  }
}
