package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Failure;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** No process outlives what it was started for. */
class ProcessStopTest extends ProcessRig {

  @Test
  void whoever_stops_a_job_stops_all_of_its_processes() throws Exception {
    UUID id =
        enqueue(
            script(
                "trap '' TERM; (trap '' TERM; sleep 600 & echo $! > grandchild; wait) & echo $$ >"
                    + " leader; wait; wait"));

    try (JobExecutors executors =
            open(ExecutorConfig.DEFAULTS.withTermGrace(Duration.ofMillis(200)));
        Worker worker = executors.installOn(tenant.worker()).start()) {
      long leader = Processes.pidIn(directory.resolve("leader"));
      long grandchild = Processes.pidIn(directory.resolve("grandchild"));
      tenant.acts().stop(id, ADA);
      Processes.await(() -> tenant.job(id).state().isFinished());

      assertThat(Processes.isRunning(leader)).isFalse();
      assertThat(Processes.isRunning(grandchild)).isFalse();
    }
    assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void a_command_that_is_stopped_may_clean_up_and_what_it_says_is_kept() throws Exception {
    UUID id =
        enqueue(script("trap 'echo cleaning up; exit 0' TERM; echo $$ > leader; sleep 600 & wait"));

    try (JobExecutors executors = open(ExecutorConfig.DEFAULTS);
        Worker worker = executors.installOn(tenant.worker()).start()) {
      Processes.pidIn(directory.resolve("leader"));
      tenant.acts().stop(id, ADA);
      Processes.await(() -> tenant.job(id).state().isFinished());
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
    assertThat(tenant.jobs().log(id)).containsExactly("cleaning up");
  }

  @Test
  void a_command_that_takes_too_long_is_ended() throws Exception {
    NewJob slow =
        script("echo $$ > leader; exec sleep 600")
            .withPolicy(PolicyOverrides.NONE.withTimeout(TimeLimit.of(Duration.ofSeconds(1))));

    Job job = run(slow);

    assertThat(job.state()).isEqualTo(JobState.FAILED);
    assertThat(job.errorCode()).contains(Failure.JOB_TIMEOUT);
    assertThat(Processes.isRunning(Processes.pidIn(directory.resolve("leader")))).isFalse();
  }

  @Test
  void a_command_whose_job_was_given_away_is_ended() throws Exception {
    UUID id =
        enqueue(
            script("echo $$ > leader; exec sleep 600")
                .withPolicy(PolicyOverrides.NONE.withOnLeaseLost(OnLeaseLost.FAIL)));

    try (JobExecutors executors = open(ExecutorConfig.DEFAULTS);
        Worker worker = executors.installOn(tenant.worker()).start()) {
      long leader = Processes.pidIn(directory.resolve("leader"));
      tenant.execute(
          "UPDATE {schema}.job SET lease_expires_at = {schema}.clock() - interval '1 hour'");
      reap();

      Processes.await(() -> !Processes.isRunning(leader));
    }
    assertThat(tenant.job(id).errorCode()).contains(Failure.LEASE_LOST);
  }

  @Test
  void a_command_of_a_worker_that_closes_is_ended_and_its_job_handed_back() throws Exception {
    UUID id = enqueue(script("echo $$ > leader; exec sleep 600"));

    try (JobExecutors executors = open(ExecutorConfig.DEFAULTS);
        Worker worker =
            executors
                .installOn(tenant.worker())
                .configure(config -> config.withDrainTimeout(Duration.ZERO))
                .start()) {
      Processes.pidIn(directory.resolve("leader"));
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(id).attempt()).isZero();
    assertThat(Processes.isRunning(Processes.pidIn(directory.resolve("leader")))).isFalse();
  }

  @Test
  void what_a_command_leaves_behind_ends_with_it() throws Exception {
    Job job = run(script("sleep 600 & echo $! > left; echo done"));

    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(result(job).get("output")).isEqualTo("done\n");
    long left = Processes.pidIn(directory.resolve("left"));
    Processes.await(() -> !Processes.isRunning(left));
  }
}
