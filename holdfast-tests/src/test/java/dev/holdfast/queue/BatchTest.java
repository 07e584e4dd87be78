package dev.holdfast.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.job.JobIds;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.testkit.TestTenant;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Many jobs in one call. */
class BatchTest {

  private static final Kind<Integer> COUNT = Kind.of("count", Integer.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void bulk_answers_in_order_and_mixes_plain_and_keyed_jobs() {
    UUID known = tenant.jobs().enqueue(COUNT.job(0).withUniqueKey("taken")).id();

    List<Enqueued> answers =
        tenant
            .jobs()
            .enqueueAll(
                List.of(
                    COUNT.job(1),
                    COUNT.job(2).withUniqueKey("taken"),
                    COUNT.job(3).withUniqueKey("free"),
                    COUNT.job(4)));

    assertThat(answers).extracting(Enqueued::created).containsExactly(true, false, true, true);
    assertThat(answers.get(1).id()).isEqualTo(known);
    assertThat(tenant.job(answers.get(3).id()).args().json()).isEqualTo("4");
  }

  @Test
  void bulk_is_all_or_nothing() {
    List<NewJob> jobs = List.of(COUNT.job(1), NewJob.of("bad", new Payload("{not json")));

    assertThatThrownBy(() -> tenant.jobs().enqueueAll(jobs)).isInstanceOf(RuntimeException.class);

    assertThat(tenant.query("SELECT FROM {schema}.job")).isEmpty();
  }

  @Test
  void many_jobs_at_once_are_all_there_in_order() {
    tenant.jobs().enqueueAll(IntStream.range(0, 12_345).mapToObj(COUNT::job).toList());

    assertThat(inTurn()).hasSize(12_345);
    assertThat(inTurn().get(12_344)).isEqualTo(12_344);
  }

  @Test
  void jobs_with_ids_take_their_turns_in_the_order_of_their_batch() {
    List<UUID> ids =
        Stream.generate(JobIds::next).limit(50).sorted(Comparator.reverseOrder()).toList();
    List<NewJob> batch =
        IntStream.range(0, 50)
            .mapToObj(i -> i % 5 == 0 ? COUNT.job(i) : COUNT.job(i).withId(ids.get(i)))
            .map(job -> job.withTarget("machine"))
            .toList();

    tenant.jobs().enqueueAll(batch);

    assertThat(inTurn()).isEqualTo(IntStream.range(0, 50).boxed().toList());
  }

  @Test
  void a_job_that_a_batch_names_twice_is_stored_once() {
    UUID id = JobIds.next();

    List<Enqueued> answers =
        tenant
            .jobs()
            .enqueueAll(
                List.of(
                    COUNT.job(1).withId(id),
                    COUNT.job(2).withId(id),
                    COUNT.job(3).withUniqueKey("k"),
                    COUNT.job(4).withUniqueKey("k")));

    assertThat(answers).extracting(Enqueued::created).containsExactly(true, false, true, false);
    assertThat(answers.get(1).id()).isEqualTo(id);
    assertThat(answers.get(3).id()).isEqualTo(answers.get(2).id());
    assertThat(tenant.job(id).args().json()).isEqualTo("1");
  }

  @Test
  void a_batch_that_is_larger_than_what_is_sent_at_once_keeps_its_order() {
    Payload large = new Payload("\"" + "x".repeat(250_000) + "\"");
    List<NewJob> batch =
        IntStream.range(0, 100)
            .mapToObj(i -> NewJob.of("large", large).withUniqueKey("k" + i % 99).withTarget("t"))
            .toList();

    List<Enqueued> answers = tenant.jobs().enqueueAll(batch);

    assertThat(answers.subList(0, 99)).allMatch(Enqueued::created);
    assertThat(answers.get(99).created()).isFalse();
    assertThat(answers.get(99).id()).isEqualTo(answers.getFirst().id());
    assertThat(tenant.query("SELECT unique_key FROM {schema}.job ORDER BY run_at, seq"))
        .extracting(row -> row.get("unique_key"))
        .as("which is not that of the keys, in which they are sent")
        .isEqualTo(IntStream.range(0, 99).mapToObj(i -> "k" + i).toList());
  }

  @Test
  void a_mixed_batch_takes_its_turns_in_the_order_of_the_list() {
    tenant
        .jobs()
        .enqueueAll(
            IntStream.range(0, 10)
                .mapToObj(i -> i % 3 == 0 ? COUNT.job(i).withTags("t") : COUNT.job(i))
                .toList());

    assertThat(inTurn()).isEqualTo(IntStream.range(0, 10).boxed().toList());
  }

  @Test
  void a_repeat_of_a_finished_job_does_not_keep_its_key_from_another_of_the_batch() {
    UUID finished = JobIds.next();
    tenant.jobs().enqueue(COUNT.job(1).withId(finished).withUniqueKey("k"));
    tenant.worker().handle(COUNT, (n, job) -> {}).build().runDue();
    UUID fresh = JobIds.next();

    List<Enqueued> answers =
        tenant
            .jobs()
            .enqueueAll(
                List.of(
                    COUNT.job(1).withId(finished).withUniqueKey("k"),
                    COUNT.job(2).withId(fresh).withUniqueKey("k")));

    assertThat(answers).containsExactly(new Enqueued(finished, false), new Enqueued(fresh, true));
    assertThat(tenant.job(fresh).args().json()).isEqualTo("2");
  }

  @Test
  void a_repeat_of_a_finished_job_is_that_job_also_when_another_has_its_key() {
    UUID finished = JobIds.next();
    NewJob first = COUNT.job(1).withId(finished).withUniqueKey("k");
    tenant.jobs().enqueue(first);
    tenant.worker().handle(COUNT, (n, job) -> {}).build().runDue();
    tenant.jobs().enqueue(COUNT.job(2).withUniqueKey("k"));

    assertThat(tenant.jobs().enqueue(first)).isEqualTo(new Enqueued(finished, false));
    assertThat(tenant.jobs().enqueueAll(List.of(first)))
        .containsExactly(new Enqueued(finished, false));
  }

  /** The arguments, in the order in which they are claimed. */
  private List<Object> inTurn() {
    return tenant
        .query("SELECT args::text::int AS n FROM {schema}.job ORDER BY run_at, seq")
        .stream()
        .map(row -> row.get("n"))
        .toList();
  }
}
