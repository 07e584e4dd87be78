package dev.holdfast.error;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.audit.Act;
import dev.holdfast.hold.EngineRig;
import dev.holdfast.job.JobIds;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.queue.Acts;
import dev.holdfast.queue.Jobs;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever callers come with, they get our own exception back, and nothing is stored. */
class BadInputTest extends EngineRig {

  private static final String WITH_NUL = "a\0b";
  private static final Payload BROKEN = new Payload("{");

  static Stream<Named<Consumer<BadInputTest>>> bad() {
    return Stream.of(
        bad(
            "name of a resource to release",
            test -> test.tenant.resources().release(WITH_NUL, ADA)),
        bad("name of a resource", test -> test.tenant.resources().get(WITH_NUL)),
        bad("negative number of names", test -> test.tenant.resources().names("", -1)),
        bad("name of a queue", test -> test.tenant.queues().get(WITH_NUL)),
        bad(
            "queue to claim from",
            test -> test.leases().claim(ClaimRequest.of("w", Set.of(WITH_NUL), 1))),
        bad(
            "subject",
            test -> test.tenant.holdfast().subjects(test.tenant.name()).get(WITH_NUL, "b")),
        bad(
            "negative number of acts",
            test -> test.tenant.holdfast().audit(test.tenant.name()).latest(-1)),
        bad(
            "reason of an act",
            test -> test.tenant.acts().cancel(JobIds.next(), Act.by("ada").because(WITH_NUL))),
        bad("arguments with nul", test -> test.enqueue(NewJob.of("k", new Payload("\"\0\"")))),
        bad("arguments", test -> test.enqueue(NewJob.of("k", BROKEN))),
        bad(
            "arguments in bulk",
            test -> test.tenant.jobs().enqueueAll(List.of(NewJob.of("k", BROKEN)))),
        bad(
            "arguments of a job that may exist",
            test -> test.enqueue(NewJob.of("k", BROKEN).withId(JobIds.next()))),
        bad("kind", test -> test.enqueue(NewJob.of(WITH_NUL, 1))),
        bad("unique key", test -> test.enqueue(NewJob.of("k", 1).withUniqueKey(WITH_NUL))),
        bad("tag", test -> test.enqueue(NewJob.of("k", 1).withTags(List.of(WITH_NUL)))));
  }

  private static Named<Consumer<BadInputTest>> bad(String what, Consumer<BadInputTest> call) {
    return Named.of(what, call);
  }

  @ParameterizedTest
  @MethodSource("bad")
  void it_is_refused_in_our_own_words(Consumer<BadInputTest> call) {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> call.accept(this))
        .satisfies(e -> assertThat(e.code()).isNotEqualTo(ErrorCode.DATABASE));
    assertThat(tenant.query("SELECT id FROM {schema}.job")).isEmpty();
  }

  @Test
  void a_tenant_that_was_dropped_is_said_to_be_gone() {
    Jobs jobs = tenant.jobs();
    Acts acts = tenant.acts();
    var queues = tenant.queues();
    UUID id = enqueue(NewJob.of("k", 1));
    tenant.holdfast().tenants().drop(tenant.name());

    List<Runnable> calls =
        List.of(
            () -> jobs.enqueue(NewJob.of("k", 1)),
            () -> jobs.enqueue(NewJob.of("new", 1)),
            () -> jobs.get(id),
            () -> acts.cancel(id, ADA),
            () -> queues.get("default"));
    assertThat(calls)
        .allSatisfy(call ->
            assertThatExceptionOfType(HoldfastException.class)
                .isThrownBy(call::run)
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND)));

    tenant.holdfast().tenants().create(tenant.name());
  }
}
