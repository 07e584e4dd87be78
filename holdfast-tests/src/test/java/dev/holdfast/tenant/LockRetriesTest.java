package dev.holdfast.tenant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Transactions that lock whole tables, while another transaction has one of them. */
class LockRetriesTest {

  private static final AtomicInteger NUMBER = new AtomicInteger(); // tests run at the same time

  private final SchemaName schema = new SchemaName("locked_for_long_" + NUMBER.incrementAndGet());
  private final Db db = Db.on(TestDatabase.shared().dataSource()::getConnection, schema);
  private final AtomicInteger tries = new AtomicInteger();

  @BeforeEach
  void makeATable() {
    db.jdbi()
        .useHandle(handle -> {
          handle.execute(schema.render("CREATE SCHEMA {schema}"));
          handle.execute(schema.render("CREATE TABLE {schema}.job (id bigint)"));
        });
  }

  @AfterEach
  void dropIt() {
    db.jdbi().useHandle(handle -> handle.execute(schema.render("DROP SCHEMA {schema} CASCADE")));
  }

  @Test
  void who_gets_no_lock_in_the_end_is_told_what_to_do() {
    db.jdbi()
        .useTransaction(other -> {
          lock(other);

          assertThatExceptionOfType(HoldfastException.class)
              .isThrownBy(() -> new LockRetries(db, schema, Duration.ZERO).use(this::lock))
              .withMessageContaining(schema.value())
              .withMessageContaining("another transaction, or a vacuum")
              .withMessageContaining("start again")
              .satisfies(gaveUp -> {
                assertThat(gaveUp.code()).isEqualTo(ErrorCode.DATABASE);
                assertThat(SqlErrors.isPassing(gaveUp)).isTrue();
              });
        });
  }

  @Test
  void others_have_time_between_two_tries() {
    Duration pause = Duration.ofMillis(50);
    long began = System.nanoTime();

    db.jdbi()
        .useTransaction(other -> {
          lock(other);
          new LockRetries(db, schema, pause)
              .use(handle -> {
                if (tries.incrementAndGet() <= 4) {
                  lock(handle);
                }
              });
        });

    // One pause may have been cut short: a thread can be woken without reason.
    assertThat(Duration.ofNanos(System.nanoTime() - began))
        .isGreaterThanOrEqualTo(pause.multipliedBy(3));
  }

  private void lock(Handle handle) {
    handle.execute("SET LOCAL lock_timeout = '1ms'");
    handle.execute(schema.render("LOCK TABLE {schema}.job"));
  }
}
