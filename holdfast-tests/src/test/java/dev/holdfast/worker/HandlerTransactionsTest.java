package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import dev.holdfast.job.Payload;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a handler writes to the database together with the end of its job. */
class HandlerTransactionsTest extends EmailRig {

  @Test
  void a_handlers_transaction_commits_with_the_completion_of_its_job() {
    tenant.execute("CREATE TABLE {schema}.sent (address text)");
    String insert = tenant.tenant().db().sql("INSERT INTO {schema}.sent VALUES (?)");
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) ->
                    job.inTransaction(connection -> {
                      try (var statement = connection.prepareStatement(insert)) {
                        statement.setString(1, email.to());
                        statement.execute();
                      }
                      return Payload.NULL;
                    }))
            .build();
    UUID id = enqueue("ada");

    worker.runDue();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.query("SELECT address FROM {schema}.sent")).hasSize(1);
    assertThat(tenant.jobs().attempts(id)).hasSize(1);
  }

  @Test
  void a_handlers_transaction_may_take_its_time() {
    List<Integer> limits = new ArrayList<>();
    try (Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) ->
                    job.inTransaction(connection -> {
                      limits.add(connection.getNetworkTimeout());
                      return Payload.NULL;
                    }))
            .build()) {
      UUID id = enqueue("ada");
      worker.runDue();
      assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    }

    assertThat(limits).containsExactly(0);
  }

  @Test
  void a_failing_transaction_leaves_neither_writes_nor_completion() {
    tenant.execute("CREATE TABLE {schema}.sent (address text)");
    String insert = tenant.tenant().db().sql("INSERT INTO {schema}.sent VALUES ('x')");
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) ->
                    job.inTransaction(connection -> {
                      connection.createStatement().execute(insert);
                      throw new IllegalStateException("after the write");
                    }))
            .build();
    UUID id = enqueue("ada");

    worker.runDue();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.query("SELECT address FROM {schema}.sent")).isEmpty();
  }
}
