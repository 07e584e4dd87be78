package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Kind;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@Covers("A16")
class WorkerNameTest {

  private static final Kind<String> EMAIL = Kind.of("email", String.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void a_worker_is_named_after_its_host_and_process_for_as_long_as_that_lives() throws Exception {
    String host = InetAddress.getLocalHost().getHostName();

    String name = WorkerConfig.defaults().name();

    assertThat(name).isEqualTo(host + "-" + ProcessHandle.current().pid());
    assertThat(WorkerConfig.defaults().name()).isEqualTo(name);
    assertThat(WorkerConfig.defaults().host()).isEqualTo(host);
  }

  @Test
  void a_running_job_is_locked_by_the_name_of_its_worker() {
    List<Object> lockedBy = new ArrayList<>();
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (to, job) ->
                    lockedBy.add(
                        tenant
                            .query("SELECT locked_by FROM {schema}.jobs")
                            .getFirst()
                            .get("locked_by")))
            .build();
    tenant.jobs().enqueue(EMAIL.job("ada"));

    worker.runDue();

    assertThat(lockedBy).containsExactly(WorkerConfig.defaults().name());
    assertThat(tenant.query("SELECT locked_by FROM {schema}.jobs").getFirst())
        .containsEntry("locked_by", null);
  }
}
