package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.testkit.TestTenant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class FirstJobTest {

  record Email(String to) {}

  static final Kind<Email> EMAIL = Kind.of("email", Email.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void a_due_job_runs_once_and_goes_to_history() {
    List<String> sent = new ArrayList<>();
    Worker worker = tenant.worker().handle(EMAIL, (email, job) -> sent.add(email.to())).build();
    var id = tenant.jobs().enqueue(EMAIL.job(new Email("ada"))).id();

    int attempts = worker.runDue();

    assertThat(attempts).isEqualTo(1);
    assertThat(sent).containsExactly("ada");
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.jobs().attempts(id)).hasSize(1);
  }

  @Test
  void a_started_worker_runs_jobs_as_they_come() throws Exception {
    CountDownLatch ran = new CountDownLatch(100);
    try (Worker worker = tenant.worker().handle(EMAIL, (email, job) -> ran.countDown()).start()) {
      tenant.jobs().enqueueAll(java.util.Collections.nCopies(99, EMAIL.job(new Email("ada"))));
      tenant.jobs().enqueue(EMAIL.job(new Email("ada")));
      ran.await();
    }
    assertThat(tenant.query("SELECT count(*) AS done FROM {schema}.job_done").getFirst())
        .containsEntry("done", 100L);
  }
}
