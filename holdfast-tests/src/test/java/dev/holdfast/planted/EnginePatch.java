package dev.holdfast.planted;

import static dev.holdfast.planted.Cut.inCore;

import java.util.List;

/** Guards of workers, leases, queues and schedules. */
@SuppressWarnings("ImmutableEnumChecker") // nobody changes these lists
enum EnginePatch implements PlantedPatch {
  HEARTBEAT_STOPS_FIRST_AT_DRAIN(
      Trial.of(
              "worker.DrainTest",
              "a_worker_that_drains_renews_its_leases_until_its_last_job_is_done")
          .hanging(),
      inCore(
          "worker/Worker",
          "boolean hurried = drain\\(\\);",
          "stopLast.forEach(Worker::stop); boolean hurried = drain();")),
  NO_SELF_FENCE(
      Trial.of(
          "worker.InterruptedWorkTest",
          "a_handler_is_stopped_before_a_lease_that_could_not_be_renewed_can_pass_on",
          "the_lease_of_a_handler_that_goes_on_after_that_is_renewed_as_long_as_it_runs",
          "whoever_drains_by_hand_is_stopped_too_before_a_lease_that_could_not_be_renewed"
              + "_passes_on"),
      Cuts.NO_SELF_FENCE),
  SELF_FENCE_BY_THE_ANSWER(
      Trial.of(
          "worker.InterruptedWorkTest",
          "a_heartbeat_counts_from_before_it_was_sent_however_long_its_answer_takes"),
      inCore(
          "worker/Heartbeater",
          "running.renewed\\(sentNanos\\)",
          "running.renewed(System.nanoTime())")),
  LOST_IS_NOT_HEARD(
      Trial.of(
          "worker.InterruptedWorkTest",
          "a_handler_whose_lease_is_lost_is_stopped_when_a_heartbeat_hears_of_it",
          "the_lease_of_a_handler_that_goes_on_after_that_is_renewed_as_long_as_it_runs"),
      inCore("worker/Heartbeater", "running.interrupt\\(Interruption.LOST\\)", "false")),
  NO_POLLING(
      Trial.of("lease.DueJobsTest", "a_job_that_nobody_announced_is_found_by_polling").hanging(),
      inCore(
          "worker/Claimer",
          "orElse\\(config.pollInterval\\(\\)\\)",
          "orElse(Duration.ofHours(1))")),
  NO_TIME_AFTER_AN_OUTAGE(
      Trial.of(
          "reap.OutagesTest",
          "of_the_time_before_the_first_round_of_all_nobody_knows_anything",
          "when_reapers_come_late_the_database_counts_as_away_since_one_came_last",
          "reapers_that_are_always_late_count_the_delay_alone",
          "an_outage_right_after_another_counts_in_full",
          "before_the_server_started_it_was_away",
          "after_an_outage_a_reaper_that_starts_then_leaves_each_lease_its_length_to_be_renewed",
          "on_an_installation_that_is_only_just_upgraded_leases_have_their_length_too",
          "gaps_that_no_lease_is_old_enough_for_are_forgotten_and_count_as_away",
          "reapers_do_not_wait_for_one_who_keeps_the_row_and_know_of_the_gap_all_the_same",
          "however_many_come_through_at_once_after_an_outage_it_is_noted_once",
          "a_clock_that_is_set_back_hides_no_outage_after_that"),
      Cuts.NO_TIME_AFTER_AN_OUTAGE),

  COMMIT_BEFORE_RELEASE(
      Trial.ofFaults("finish: success of a guarded job"),
      inCore(
          "lease/Transitions",
          "int woken = withNeeds.isEmpty\\(\\)",
          "handle.commit(); handle.begin(); int woken = withNeeds.isEmpty()")),
  LEASED_IN_ANOTHER_TRANSACTION(
      Trial.ofFaults("claim with an id"),
      inCore(
          "lease/RepeatableClaims",
          "if \\(remember\\(handle, request, granted.leases\\(\\)\\)\\)",
          "handle.commit(); handle.begin();"
              + " if (remember(handle, request, granted.leases()))")),
  SLOT_FIRED_IN_ANOTHER_TRANSACTION(
      Trial.ofFaults("decide: a slot fires"),
      inCore(
          "schedule/Firing",
          "Enqueued enqueued = jobs.enqueue",
          "handle.commit(); handle.begin(); Enqueued enqueued = jobs.enqueue")),
  AUDIT_OF_WHAT_MAY_NOT_BE(
      Trial.ofFaults("cancel a queued job"),
      inCore(
          "queue/ActTransaction",
          "Optional<Move> subject = step.apply\\(handle, before\\);",
          "Optional<Move> subject = step.apply(handle, before);"
              + " handle.commit(); handle.begin();")),
  NOTHING_ROLLED_BACK(
      Trial.of("queue.HostileEnqueueTest", "a_batch_that_breaks_off_with_an_error_stores_nothing"),
      inCore("queue/EnqueueTransactions", "connection.rollback\\(\\);", "")),
  COMPANY_SUFFERS(
      Trial.of(
          "fault.FaultyCompanyTest",
          "whoever_travelled_with_the_unlucky_is_stored_once_all_the_same"),
      inCore(
          "loop/Batcher", "failedWithOthers = taken.size\\(\\) > 1;", "failedWithOthers = false;")),
  LATE_COMPANY_IS_STORED_AGAIN(
      Trial.of(
          "queue.EnqueueTogetherTest",
          "what_was_sent_and_arrives_when_others_have_stored_and_done_their_jobs_is_not_stored"
              + "_again"),
      inCore("queue/PlainJobs", "turn.isLate\\(\\)", "false")),
  SOMEBODYS_TRANSACTION_IS_COMMITTED(
      Trial.of(
          "tenant.BoundTransactionTest",
          "what_we_do_for_ourselves_never_ends_the_transaction_that_a_thread_is_in",
          "nor_does_it_when_nothing_was_done_in_that_yet",
          "where_no_connection_commits_by_itself_a_transaction_is_still_told_by_what_it_did"),
      inCore("tenant/PoolConnections", "isSomebodys\\(connection\\)\\)", "false)")),
  SLOTS_AMONG_OTHER_KEYS(
      Trial.of(
          "schedule.OverlappingRunsTest", "no_unique_key_of_a_strangers_keeps_a_slot_from_its_run"),
      inCore("queue/JobRow", "\\? SlotKey.SCOPE", "? \"tenant\"")),
  LANES_OF_ANOTHER_TENANT_KEPT(
      Trial.of(
          "tenant.TenantMadeAnewTest",
          "a_priority_that_was_given_in_the_old_tenant_can_be_given_in_the_new_one"),
      inCore("queue/Lanes", "forget\\(\\);\\s+return work.get\\(\\);", "return work.get();")),
  FENCES_OF_A_DROPPED_TENANT_FORGOTTEN(
      Trial.of(
          "tenant.TenantMadeAnewTest",
          "a_worker_of_the_old_tenant_cannot_finish_a_job_of_the_new_one",
          "fences_go_on_however_often_a_tenant_is_made_anew"),
      inCore("tenant/Tenants", "goOnFromDropped\\(handle, tenant\\);", "")),

  SUCCESS_UNDER_ANY_FENCE(
      Trial.of("lease.PgLeasesTest", "a_worker_that_lost_its_lease_cannot_finish_the_job"),
      Cuts.FENCE_OF_SUCCESSES),
  KILL_GRACE_OF_NOTHING(
      Trial.of(
          "hold.PassingOnTest",
          "what_a_silent_worker_held_passes_on_only_when_lease_and_kill_grace_are_over",
          "the_retry_of_a_lost_job_waits_for_the_earlier_attempt_too",
          "a_late_worker_that_says_its_work_is_over_frees_what_it_held",
          "a_reaper_rests_until_something_passes_on"),
      Cuts.KILL_GRACE),
  REAPER_REVIVES_THE_FINISHED(Trial.ofModel(), Cuts.REVIVING_REAPER),

  NO_SELF_FENCE_IN_CHAOS(Trial.ofChaos(), Cuts.NO_SELF_FENCE),
  KILL_GRACE_OF_NOTHING_IN_CHAOS(Trial.ofChaos(), Cuts.KILL_GRACE),
  FINISH_UNDER_ANY_FENCE_IN_CHAOS(
      Trial.ofChaos(),
      inCore(
          "lease/Transitions",
          "AND fence = (?=\\(\\(SELECT fences FROM ended\\)\\))",
          "AND fence >= 0 * "),
      Cuts.FENCE_OF_SUCCESSES),
  REAPER_REVIVES_THE_FINISHED_IN_CHAOS(Trial.ofChaos(), Cuts.REVIVING_REAPER);

  private final Trial trial;
  private final List<Cut> cuts;

  EnginePatch(Trial trial, Cut... cuts) {
    this.trial = trial;
    this.cuts = List.of(cuts);
  }

  @Override
  public Trial trial() {
    return trial;
  }

  @Override
  public List<Cut> cuts() {
    return cuts;
  }
}
