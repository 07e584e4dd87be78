package dev.holdfast.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.job.NewJob;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;

class SilentLockTest extends EngineTest {

  @Test
  void a_process_frozen_while_it_has_a_resources_lock_keeps_others_from_it_for_seconds_only() {
    UUID id = enqueue(NewJob.of("deploy", 1).withResources("site:1"));
    Db db = tenant.tenant().db();
    Holds holds = new Holds(db);
    db.jdbi().useHandle(handle -> holds.make(handle, List.of("site:1")));
    Handle frozen = db.jdbi().open();
    frozen.begin();
    holds.lock(frozen, List.of("site:1"));

    assertThat(next()).contains(id); // waits for the lock

    Throwable woken = catchThrowable(() -> frozen.execute("SELECT 1"));
    assertThat(SqlErrors.isPassing(woken)).as("%s", woken).isTrue();
    var unused = catchThrowable(frozen::close); // there is nothing to roll back any more
  }
}
