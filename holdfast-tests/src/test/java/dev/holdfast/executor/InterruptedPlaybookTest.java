package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.Worker;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Attempts that are told to stop while their playbook is about to start. */
class InterruptedPlaybookTest extends PlaybookRig {

  // Whoever asks a server for the runbook asks to the end, and hears of an interrupt afterwards.
  private record Interrupted(KindCatalog catalog, CountDownLatch asked) implements KindCatalog {
    @Override
    public Set<String> kinds(Set<String> executors) {
      return catalog.kinds(executors);
    }

    @Override
    public Map<String, String> executors(String tenant) {
      return catalog.executors(tenant);
    }

    @Override
    public Runbook runbook(JobContext job) {
      asked.countDown();
      while (!Thread.currentThread().isInterrupted()) {
        Thread.onSpinWait();
      }
      return catalog.runbook(job);
    }
  }

  @Test
  @Timeout(60)
  void a_drain_gives_an_attempt_back_whose_playbook_had_not_started() throws Exception {
    playbook("- debug: {msg: x}");
    UUID id = enqueue(deploy(Map.of()));
    CountDownLatch asked = new CountDownLatch(1);
    try (JobExecutors executors = JobExecutors.open(Set.of("ansible"), config());
        Worker unused =
            executors
                .installOn(
                    tenant.worker().configure(each -> each.withDrainTimeout(Duration.ZERO)),
                    new Interrupted(catalog(HERE, "play.yml"), asked))
                .start()) {
      asked.await();
    }

    Job job = tenant.job(id);
    assertThat(job.errorCode()).isEmpty();
    assertThat(job.state()).isEqualTo(JobState.QUEUED);
    assertThat(job.attempt()).as("counted").isZero();
  }

  @Test
  void a_directory_whose_owner_could_not_be_written_is_removed() {
    Path parent = directory.resolve("parent");

    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> ScratchDirectory.create(parent))
          .isInstanceOf(ClosedByInterruptException.class);
    } finally {
      boolean unused = Thread.interrupted();
    }

    assertThat(parent).isEmptyDirectory();
  }
}
