package dev.holdfast.fault;

import dev.holdfast.lease.Lease;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Leases were granted and nobody heard of it: they run out, and the jobs are granted again. */
final class LostLeases {

  private static final String LEASED =
      """
      SELECT id FROM {schema}.job WHERE worker IS NOT NULL
      """;

  private static final String RUNNING_AGAIN =
      """
      SELECT id FROM {schema}.job WHERE worker IS NOT NULL AND attempt = 2
      """;

  private final Ground ground;
  private final Course course;

  LostLeases(Ground ground, Course course) {
    this.ground = ground;
    this.course = course;
  }

  List<String> comeBack(Engine engine) {
    List<String> complaints = new ArrayList<>();
    List<String> lost = ground.column(LEASED);
    List<Lease> early = engine.leases().claim(Ground.request().withLimit(10)).leases();
    if (early.stream().anyMatch(lease -> lost.contains(lease.key().jobId().toString()))) {
      complaints.add("leased twice at once");
    }
    ground.later(600);
    int unused = engine.reaper().runOnce();
    ground.later(600); // what they held has passed on
    unused = engine.reaper().runOnce();
    if (!ground.column(LEASED).isEmpty()) {
      complaints.add("leases do not end: " + ground.column(LEASED));
    }
    Set<String> again = new HashSet<>();
    // Several rounds: whoever has to wait for a resource may not be first.
    for (int round = 0; round < 3; round++) {
      engine
          .leases()
          .claim(Ground.request())
          .leases()
          .forEach(lease -> again.add(lease.key().jobId().toString()));
    }
    if (!again.containsAll(lost) || !ground.column(RUNNING_AGAIN).containsAll(lost)) {
      complaints.add("lost " + lost + ", only these came back: " + again);
    }
    if (course.points().isEmpty()) {
      complaints.add("no points");
    }
    return complaints;
  }
}
