package dev.holdfast.queue;

import dev.holdfast.codec.Codec;
import dev.holdfast.codec.PolicyJson;
import dev.holdfast.job.JobIds;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Needs;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.SlotKey;
import dev.holdfast.job.Subject;
import dev.holdfast.job.UniqueKey;
import dev.holdfast.job.When;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A new job as the columns it is stored in. Null is SQL's NULL. */
record JobRow(
    UUID id,
    boolean hasGivenId,
    Lane lane,
    String state,
    @Nullable OffsetDateTime runAt,
    Duration delay,
    String args,
    @Nullable String policy,
    @Nullable List<String> tags,
    @Nullable String uniqueScope,
    @Nullable String uniqueKey,
    Needs needs) {

  /**
   * The one order in which all transactions store jobs that may exist already. Of jobs with the
   * same key the first one counts, so a sort must keep their order.
   */
  static final Comparator<JobRow> BY_KEY =
      Comparator.comparing((JobRow row) -> row.uniqueScope() == null ? "" : row.uniqueScope())
          .thenComparing(row -> row.uniqueKey() == null ? row.id().toString() : row.uniqueKey());

  private static final PolicyJson POLICIES = new PolicyJson();

  static JobRow of(NewJob job, Codec codec) {
    return new JobRow(
        job.id().orElseGet(JobIds::next),
        job.id().isPresent(),
        Lane.of(job),
        job.firstState().stored(),
        job.when() instanceof When.At at ? at.instant().atOffset(ZoneOffset.UTC) : null,
        job.when() instanceof When.After after ? after.delay() : Duration.ZERO,
        json(job.args(), codec),
        job.policy().equals(PolicyOverrides.NONE) ? null : POLICIES.write(job.policy()),
        job.tags().isEmpty() ? null : job.tags(),
        uniqueScope(job),
        job.slot().map(SlotKey::stored).or(() -> job.uniqueKey().map(UniqueKey::key)).orElse(null),
        job.needs());
  }

  private static @Nullable String uniqueScope(NewJob job) {
    return job.slot().isPresent()
        ? SlotKey.SCOPE
        : job.uniqueKey().map(key -> key.scopeName(job.queue(), job.kind())).orElse(null);
  }

  private static String json(Object args, Codec codec) {
    return args instanceof Payload payload
        ? payload.json()
        : Limits.payload("args", codec.encode(args));
  }

  /** Whether the job has nothing but a lane and arguments: it is due now and sets nothing else. */
  boolean isPlain() {
    return state.equals(JobState.QUEUED.stored())
        && runAt == null
        && delay.isZero()
        && policy == null
        && tags == null
        && needs.isNothing()
        && !mayExist();
  }

  @Nullable List<String> resources() {
    return needs.resources().isEmpty() ? null : needs.resources();
  }

  @Nullable String target() {
    return needs.target().orElse(null);
  }

  @Nullable String subjectType() {
    return needs.subject().map(Subject::type).orElse(null);
  }

  @Nullable String subjectId() {
    return needs.subject().map(Subject::id).orElse(null);
  }

  @Nullable String subjectDuring() {
    return needs.subject().flatMap(Subject::during).orElse(null);
  }

  /** Whether a job with the same id or unique key may exist already. */
  boolean mayExist() {
    return hasGivenId || uniqueKey != null;
  }
}
