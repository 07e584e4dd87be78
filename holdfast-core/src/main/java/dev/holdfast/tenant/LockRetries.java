package dev.holdfast.tenant;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.HandleConsumer;

/**
 * For transactions that lock whole tables of a schema. Whatever asks for a lock that such a
 * transaction waits for has to wait behind it, heartbeats as well. So it waits only briefly, gives
 * up all of its locks, lets others through, and begins again. Nor may it wait for longer: the
 * server would find deadlocks, and could end somebody else's transaction.
 */
record LockRetries(Db db, SchemaName schema, Duration pause) {

  private static final Duration PAUSE = Duration.ofMillis(250);

  // Somewhat more than a minute: a try waits half a second at most for the lock that it does not
  // get, then comes the pause.
  private static final int MOST_TRIES = 100;

  private static final int TRIES_PER_INTERRUPT = 10;

  LockRetries(Db db, SchemaName schema) {
    this(db, schema, PAUSE);
  }

  <T> T run(HandleCallback<T, RuntimeException> transaction) {
    for (int tries = 1; ; tries++) {
      try {
        return db.inTransaction(transaction);
      } catch (HoldfastException e) {
        if (!SqlErrors.isLockTimeout(e)) {
          throw e;
        }
        if (tries == MOST_TRIES) {
          throw gaveUp(e);
        }
      }
      if (tries % TRIES_PER_INTERRUPT == 1) {
        new Autovacuum(db, schema).interrupt();
      }
      LockSupport.parkNanos(pause.toNanos());
    }
  }

  void use(HandleConsumer<RuntimeException> transaction) {
    run(transaction.asCallback());
  }

  private HoldfastException gaveUp(HoldfastException e) {
    return new HoldfastException(
        ErrorCode.DATABASE,
        ("schema %s is as it was: another transaction, or a vacuum, has locked a table of it all"
                + " the time; see pg_stat_activity, end it or wait for its end, and start again")
            .formatted(schema.value()),
        e);
  }
}
