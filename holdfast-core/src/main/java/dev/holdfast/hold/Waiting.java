package dev.holdfast.hold;

import dev.holdfast.hold.Rooms.Room;
import dev.holdfast.job.JobIds;
import dev.holdfast.job.Needs;
import dev.holdfast.tenant.Db;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/**
 * Parks jobs that wait for resources, and wakes them. A job that cannot have all it needs is parked
 * on the one resource in its way, and no claim sees it. The transaction that makes room on a
 * resource also wakes the next jobs in line. All of it happens under the resources' locks, see
 * {@link Holds}.
 */
public final class Waiting {

  private static final String ROOMS =
      """
      SELECT resource.name, resource.capacity,
             (SELECT count(*)
                FROM {schema}.hold
               WHERE hold.resource = resource.name
                 AND (hold.passes_at IS NULL OR hold.passes_at > {schema}.clock())) AS holders,
             EXISTS (SELECT FROM {schema}.block WHERE block.resource = resource.name) AS blocked,
             ARRAY (SELECT reservation.job_id
                      FROM {schema}.reservation
                     WHERE reservation.resource = resource.name
                       AND reservation.got
                       AND {schema}.insists(reservation.job_id)) AS reserved_by
        FROM unnest((SELECT :names)) AS asked (name)
       CROSS JOIN LATERAL (
         SELECT name, capacity FROM {schema}.resource WHERE resource.name = asked.name OFFSET 0
       ) AS resource
      """;

  // No claim is for more than a thousand jobs, whatever the target's capacity.
  private static final String TURNS =
      """
      SELECT resource.name, head.id
        FROM unnest((SELECT :names)) AS asked (name)
       CROSS JOIN LATERAL (
         SELECT name, capacity FROM {schema}.resource WHERE resource.name = asked.name OFFSET 0
       ) AS resource
       CROSS JOIN LATERAL
             {schema}.first_on_target(resource.name, least(resource.capacity, 1000)) AS head
       ORDER BY resource.name, head.place
      """;

  // Removes the jobs' earlier reservations; for jobs that insist, reserve() makes new ones. A job
  // parked on a resource that is reserved for it would never be woken, nor would the jobs behind
  // it.
  private static final String PARK =
      """
      WITH parked AS MATERIALIZED (
        SELECT :job_ids AS job_ids, :resources AS resources
      ), forgotten AS (
        DELETE FROM {schema}.reservation
         WHERE job_id = ANY ((SELECT job_ids FROM parked)::uuid[])
      )
      UPDATE {schema}.job
         SET waiting_on = ((SELECT resources FROM parked))
                            [width_bucket(id, (SELECT job_ids FROM parked))],
             waiting_since = coalesce(waiting_since, {schema}.clock()),
             passed_over = coalesce(passed_over + 1, 0)
       WHERE id = ANY ((SELECT job_ids FROM parked)::uuid[])
         AND state = 'queued'
         AND coalesce(waiting_on, '') = '' -- worded past the claimable index
      """;

  private static final String RESERVE =
      """
      INSERT INTO {schema}.reservation (resource, job_id, got, since)
      SELECT wanted.resource, wanted.job_id, wanted.got, {schema}.clock()
        FROM unnest(:resources, :job_ids, :gots) AS wanted (resource, job_id, got)
      """;

  private static final String FORGET =
      """
      DELETE FROM {schema}.reservation WHERE job_id = ANY (:job_ids)
      """;

  // waited: those of these resources that jobs wait for, or that are yet to be reserved for one.
  // open:   those of them that nothing blocks, and how much room holders and reservations leave.
  // free:   those of them that have room.
  // owed:   jobs that reserve, as many as there is room for, those that wait longest first.
  // kept:   reserves for them what they waited for.
  // next:   whom to wake: the owed, and for the room that they leave the first jobs of each lane,
  //         or on a target the first in line.
  //
  // Jobs that reserve come first, and what they wait for is reserved for them from now on; but not
  // while something else blocks them, because then it is free for others. Of the rest, the first
  // jobs of every lane become claimable: which of them a free worker serves is not known here, and
  // jobs that find the room taken are parked again. On a target it is one job's turn.
  private static final String WAKE =
      """
      WITH waited AS MATERIALIZED (
        SELECT resource.name, resource.capacity
          FROM unnest((SELECT :names)) AS asked (name)
         CROSS JOIN LATERAL (
           SELECT name, capacity FROM {schema}.resource WHERE resource.name = asked.name OFFSET 0
         ) AS resource
         WHERE (SELECT true
                  FROM {schema}.job
                 WHERE job.waiting_on = asked.name
                 ORDER BY job.lane -- by index, whatever the planner knows
                 LIMIT 1)
            OR EXISTS (SELECT FROM {schema}.reservation
                        WHERE reservation.resource = asked.name AND NOT reservation.got)
      ), open AS MATERIALIZED (
        SELECT resource.name,
               resource.capacity
                 - (SELECT count(*)
                      FROM {schema}.hold
                     WHERE hold.resource = resource.name
                       AND (hold.passes_at IS NULL OR hold.passes_at > {schema}.clock()))
                 - (SELECT count(*)
                      FROM {schema}.reservation
                     WHERE reservation.resource = resource.name
                       AND reservation.got
                       AND {schema}.insists(reservation.job_id))
                 AS room
          FROM waited AS resource
         WHERE NOT EXISTS (SELECT FROM {schema}.block WHERE block.resource = resource.name)
      ), free AS MATERIALIZED (
        SELECT name, room FROM open WHERE room > 0
      ), owed AS MATERIALIZED (
        SELECT free.name, first.job_id
          FROM free
         CROSS JOIN LATERAL (
           SELECT reservation.job_id
             FROM {schema}.reservation
            WHERE reservation.resource = free.name
              AND NOT reservation.got
              AND {schema}.insists(reservation.job_id)
            ORDER BY reservation.since, reservation.job_id
            LIMIT free.room
         ) AS first
      ), kept AS (
        UPDATE {schema}.reservation
           SET got = true, since = {schema}.clock()
          FROM owed
         WHERE reservation.resource = owed.name AND reservation.job_id = owed.job_id
      ), next AS MATERIALIZED (
        SELECT owed.job_id AS id FROM owed
        UNION
        SELECT first.id
          FROM free
         CROSS JOIN LATERAL {schema}.lanes_waiting_on(free.name) AS waiting
         CROSS JOIN LATERAL (
           SELECT id
             FROM (SELECT job.id
                     FROM {schema}.job
                    WHERE job.waiting_on = free.name AND job.lane = waiting.lane
                    ORDER BY job.run_at, job.seq
                    LIMIT 1000) AS nearest
            LIMIT free.room - (SELECT count(*) FROM owed WHERE owed.name = free.name)
         ) AS first
         WHERE free.name NOT LIKE 'target:%'
        UNION
        SELECT head.id
          FROM free
         CROSS JOIN LATERAL {schema}.first_on_target(free.name, 1) AS head
         WHERE free.name LIKE 'target:%'
      )
      UPDATE {schema}.job
         SET waiting_on = NULL
       WHERE id = ANY (ARRAY (SELECT id FROM next))
         AND coalesce(waiting_on, '') = ANY (ARRAY (SELECT name FROM free)) -- by id, not by this
      """;

  // A job that waits for what is already reserved for it, which should never happen, is owed it
  // again.
  private static final String KEEP_ANEW =
      """
      UPDATE {schema}.reservation
         SET got = false
        FROM {schema}.job
       WHERE reservation.resource = ANY (:names)
         AND reservation.got
         AND job.id = reservation.job_id
         AND job.waiting_on = reservation.resource
      """;

  // Resources that jobs wait for, page by page, found without reading all waiting jobs.
  private static final String WAITED_FOR =
      """
      WITH RECURSIVE found (name, number) AS (
        (SELECT job.waiting_on, 1
           FROM {schema}.job
          WHERE job.waiting_on > :after
          ORDER BY job.waiting_on
          LIMIT 1)
        UNION ALL
        SELECT (SELECT job.waiting_on
                  FROM {schema}.job
                 WHERE job.waiting_on > found.name
                 ORDER BY job.waiting_on
                 LIMIT 1), found.number + 1
          FROM found
         WHERE found.name IS NOT NULL AND found.number < :limit
      )
      SELECT found.name FROM found WHERE found.name IS NOT NULL ORDER BY found.number
      """;

  /**
   * A job that has to wait.
   *
   * @param resource the one it waits for
   * @param reserved the resources that are reserved for it meanwhile
   * @param insists whether the one it waits for is to be reserved, too, as soon as there is room
   */
  public record Parked(UUID jobId, String resource, List<String> reserved, boolean insists) {}

  private final String rooms;
  private final String turns;
  private final String park;
  private final String reserve;
  private final String forget;
  private final String wake;
  private final String keepAnew;
  private final String waitedFor;

  Waiting(Db db) {
    this.rooms = db.sql(ROOMS);
    this.turns = db.sql(TURNS);
    this.park = db.sql(PARK);
    this.reserve = db.sql(RESERVE);
    this.forget = db.sql(FORGET);
    this.wake = db.sql(WAKE);
    this.keepAnew = db.sql(KEEP_ANEW);
    this.waitedFor = db.sql(WAITED_FOR);
  }

  /** How much room there is on these resources, and whose turn it is on targets. */
  public Rooms rooms(Handle handle, Collection<String> names) {
    if (names.isEmpty()) {
      return new Rooms(List.of(), Map.of());
    }
    List<Room> found =
        handle
            .createQuery(rooms)
            .bindArray("names", String.class, names)
            .map((row, context) ->
                new Room(
                    row.getString("name"),
                    row.getInt("capacity"),
                    row.getInt("holders"),
                    row.getBoolean("blocked"),
                    Set.of((UUID[]) row.getArray("reserved_by").getArray())))
            .list();
    return new Rooms(found, turns(handle, names.stream().filter(Needs::isTarget).toList()));
  }

  private Map<String, List<UUID>> turns(Handle handle, List<String> targets) {
    Map<String, List<UUID>> inLine = new HashMap<>();
    if (!targets.isEmpty()) {
      handle
          .createQuery(turns)
          .bindArray("names", String.class, targets)
          .map((row, context) -> Map.entry(row.getString("name"), row.getObject("id", UUID.class)))
          .forEach(turn ->
              inLine
                  .computeIfAbsent(turn.getKey(), name -> new ArrayList<>())
                  .add(turn.getValue()));
    }
    return inLine;
  }

  /** Hides jobs from claims until they are woken. */
  public void park(Handle handle, List<Parked> parked) {
    if (parked.isEmpty()) {
      return;
    }
    List<Parked> inOrder =
        parked.stream().sorted(Comparator.comparing(Parked::jobId, JobIds.ORDER)).toList();
    handle
        .createUpdate(park)
        .bindArray("job_ids", UUID.class, inOrder.stream().map(Parked::jobId).toList())
        .bindArray("resources", String.class, inOrder.stream().map(Parked::resource).toList())
        .execute();
    List<Parked> insistent = parked.stream().filter(Parked::insists).toList();
    if (!insistent.isEmpty()) {
      reserve(handle, insistent); // perhaps only up to an earlier name than before
    }
  }

  private void reserve(Handle handle, List<Parked> insistent) {
    List<UUID> jobs = new ArrayList<>();
    List<String> resources = new ArrayList<>();
    List<Boolean> gots = new ArrayList<>();
    for (Parked each : insistent) {
      for (String reserved : each.reserved) {
        jobs.add(each.jobId);
        resources.add(reserved);
        gots.add(true);
      }
      jobs.add(each.jobId);
      resources.add(each.resource);
      gots.add(false);
    }
    handle
        .createUpdate(reserve)
        .bindArray("job_ids", UUID.class, jobs)
        .bindArray("resources", String.class, resources)
        .bindArray("gots", Boolean.class, gots)
        .execute();
  }

  /** Removes the reservations of jobs that run, or wait no more. */
  public void forget(Handle handle, Collection<UUID> jobIds) {
    handle.createUpdate(forget).bindArray("job_ids", UUID.class, jobIds).execute();
  }

  /** Wakes the jobs next in line, wherever there is room; returns how many. */
  public int wake(Handle handle, Collection<String> names) {
    return names.isEmpty()
        ? 0
        : handle.createUpdate(wake).bindArray("names", String.class, names).execute();
  }

  /**
   * The same, to repair what should never happen: a missing wake-up, or a job that waits for what
   * is reserved for it.
   */
  public int wakeForgotten(Handle handle, Collection<String> names) {
    handle.createUpdate(keepAnew).bindArray("names", String.class, names).execute();
    return wake(handle, names);
  }

  /** The resources that jobs wait for and whose names come after {@code after}, in order. */
  public List<String> waitedFor(Handle handle, String after, int limit) {
    return handle
        .createQuery(waitedFor)
        .bind("after", after)
        .bind("limit", limit)
        .mapTo(String.class)
        .list();
  }
}
