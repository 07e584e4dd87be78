package dev.holdfast.lease;

import dev.holdfast.hold.Held;
import dev.holdfast.hold.Holds;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.util.List;
import java.util.TreeSet;
import java.util.UUID;

/**
 * Releases what remote workers held that lost their lease and then reported that their work is
 * over: no job needs to wait for that any longer. The fence lets a worker release only its own
 * holds.
 */
final class LateReleases {

  private static final String STILL_HELD =
      """
      SELECT hold.resource, hold.job_id, hold.fence, hold.passes_at
        FROM unnest((SELECT :job_ids), (SELECT :fences), (SELECT :workers))
               AS said (job_id, fence, worker)
       CROSS JOIN LATERAL (
         SELECT resources FROM {schema}.job_all WHERE job_all.id = said.job_id OFFSET 0
       ) AS job
       CROSS JOIN LATERAL (
         SELECT hold.*
           FROM {schema}.hold
          WHERE hold.resource = ANY (job.resources)
            AND hold.job_id = said.job_id
            AND hold.fence = said.fence
            AND hold.passes_at IS NOT NULL
       ) AS hold
       WHERE EXISTS (
         SELECT FROM {schema}.attempt_all
          WHERE attempt_all.job_id = said.job_id
            AND attempt_all.fence = said.fence
            AND attempt_all.worker = said.worker)
      """;

  private final Db db;
  private final Holds holds;
  private final Consequences consequences;
  private final String stillHeld;

  LateReleases(Db db, Consequences consequences) {
    this.db = db;
    this.holds = new Holds(db);
    this.consequences = consequences;
    this.stillHeld = db.sql(STILL_HELD);
  }

  void heard(List<Repeats.Said> said) {
    List<Held> held = said.isEmpty() ? List.of() : stillHeld(said);
    if (held.isEmpty()) {
      return;
    }
    TreeSet<String> names = new TreeSet<>();
    held.forEach(each -> names.addAll(each.resources()));
    int woken =
        db.inTransaction(handle -> {
          holds.lock(handle, names);
          holds.release(handle, held);
          return holds.waiting().wake(handle, names);
        });
    if (woken > 0) {
      consequences.woken();
    }
  }

  private List<Held> stillHeld(List<Repeats.Said> said) {
    return db.withHandle(handle ->
        handle
            .createQuery(stillHeld)
            .bindArray(
                "job_ids", UUID.class, said.stream().map(each -> each.key().jobId()).toList())
            .bindArray("fences", Long.class, said.stream().map(each -> each.key().fence()).toList())
            .bindArray("workers", String.class, said.stream().map(Repeats.Said::worker).toList())
            .map((row, context) ->
                new Held(
                    row.getObject("job_id", UUID.class),
                    row.getLong("fence"),
                    List.of(row.getString("resource")),
                    Columns.instant(row, "passes_at").minus(Holds.KILL_GRACE)))
            .list());
  }
}
