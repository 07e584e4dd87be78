package dev.holdfast.planted;

import java.util.List;
import java.util.regex.Pattern;

/**
 * A guard of the engine's Java that is taken away on purpose: in which source, what stands there
 * instead, and the test that must fail then. The source is compiled apart, and the tests run
 * against that in a process of its own.
 */
enum PlantedPatch {
  HEARTBEAT_STOPS_FIRST_AT_DRAIN(
      "worker/Worker",
      "drain\\(\\);\\s+stopLast.forEach\\(Worker::stop\\);",
      "stopLast.forEach(Worker::stop); drain();",
      "worker.DrainTest"),
  NO_SELF_FENCE(
      "worker/SelfFence",
      "running.isPastDeadline\\(nanoTime.getAsLong\\(\\)\\)",
      "false",
      "worker.InterruptedWorkTest"),
  SELF_FENCE_BY_THE_ANSWER(
      "worker/Heartbeater",
      "running.renewed\\(sentNanos\\)",
      "running.renewed(System.nanoTime())",
      "worker.InterruptedWorkTest"),
  LOST_IS_NOT_HEARD(
      "worker/Heartbeater",
      "running.interrupt\\(Interruption.LOST\\)",
      "false",
      "worker.InterruptedWorkTest"),
  NO_POLLING(
      "worker/Claimer",
      "orElse\\(config.pollInterval\\(\\)\\)",
      "orElse(Duration.ofHours(1))",
      "lease.DueJobsTest"),
  NO_TIME_AFTER_AN_OUTAGE(
      "lease/Steadiness", "if \\(isLate\\)", "if (false)", "lease.SteadinessTest"),
  COMMIT_BEFORE_RELEASE(
      "lease/Transitions",
      "int woken = guarded.isEmpty\\(\\)",
      "handle.commit(); handle.begin(); int woken = guarded.isEmpty()",
      "fault.FaultPointsTest",
      "finish: success of a guarded job"),
  LEASED_IN_ANOTHER_TRANSACTION(
      "lease/RepeatableClaims",
      "if \\(remember\\(handle, request, granted.leases\\(\\)\\)\\)",
      "handle.commit(); handle.begin(); if (remember(handle, request, granted.leases()))",
      "fault.FaultPointsTest",
      "claim with an id"),
  SLOT_FIRED_IN_ANOTHER_TRANSACTION(
      "schedule/Firing",
      "Enqueued enqueued = jobs.enqueue",
      "handle.commit(); handle.begin(); Enqueued enqueued = jobs.enqueue",
      "fault.FaultPointsTest",
      "decide: a slot fires"),
  AUDIT_OF_WHAT_MAY_NOT_BE(
      "queue/ActTransaction",
      "Optional<String> subject = step.apply\\(handle, before\\);",
      "Optional<String> subject = step.apply(handle, before); handle.commit(); handle.begin();",
      "fault.FaultPointsTest",
      "cancel a queued job"),
  COMPANY_SUFFERS(
      "loop/Together",
      "failedInCompany = company.size\\(\\) > 1;",
      "failedInCompany = false;",
      "fault.FaultyCompanyTest"),
  LATE_COMPANY_IS_STORED_AGAIN(
      "queue/PlainJobs", "turn.isLate\\(\\)", "false", "queue.EnqueueTogetherTest"),
  SOMEBODYS_TRANSACTION_IS_COMMITTED(
      "tenant/PoolConnections",
      "isSomebodys\\(connection\\)\\)",
      "false)",
      "tenant.BoundTransactionTest"),
  SLOTS_AMONG_OTHER_KEYS(
      "queue/JobRow", "\\? SlotKey.SCOPE", "? \"tenant\"", "schedule.OverlappingRunsTest"),
  NOTHING_ROLLED_BACK(
      "queue/Storing", "connection.rollback\\(\\);", "", "fault.FaultPointsTest", "enqueue many"),
  LANES_OF_ANOTHER_TENANT_KEPT(
      "queue/Lanes",
      "forget\\(\\);\\s+return work.get\\(\\);",
      "return work.get();",
      "tenant.TenantMadeAnewTest"),
  FENCES_OF_A_DROPPED_TENANT_FORGOTTEN(
      "tenant/Tenants", "goOnFromDropped\\(handle, tenant\\);", "", "tenant.TenantMadeAnewTest");

  private final String source;
  private final Pattern guard;
  private final String instead;
  private final String rig;
  private final String operation;

  PlantedPatch(String source, String guard, String instead, String rig) {
    this(source, guard, instead, rig, "");
  }

  PlantedPatch(String source, String guard, String instead, String rig, String operation) {
    this.source = source;
    this.guard = Pattern.compile(guard);
    this.instead = instead;
    this.rig = rig;
    this.operation = operation;
  }

  /** Below the folder of the engine's sources. */
  String source() {
    return "dev/holdfast/" + source + ".java";
  }

  String rig() {
    return "dev.holdfast." + rig;
  }

  /** What the rig is told, so that it does no more than it must. */
  List<String> properties() {
    return operation.isEmpty() ? List.of() : List.of("-Dholdfast.faults.only=" + operation);
  }

  boolean finds(String text) {
    return guard.matcher(text).find();
  }

  String apply(String text) {
    return guard.matcher(text).replaceAll(instead);
  }
}
