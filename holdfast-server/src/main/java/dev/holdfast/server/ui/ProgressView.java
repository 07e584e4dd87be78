package dev.holdfast.server.ui;

import dev.holdfast.job.Job;
import dev.holdfast.job.Progress;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * The progress of a job: how far it is, how fast it runs, and when it would end at this rate.
 *
 * @param percent from 0 to 100, as text; empty when it is unknown
 */
record ProgressView(
    Optional<String> percent,
    Optional<String> count,
    Optional<String> rate,
    Optional<Instant> expectedAt,
    Optional<String> message,
    Optional<String> cursor,
    Optional<Instant> at) {

  static Optional<ProgressView> of(Job job) {
    Progress progress = job.progress();
    if (progress.equals(Progress.NONE)) {
      return Optional.empty();
    }
    OptionalDouble percent = percent(job);
    Optional<Duration> taken =
        job.startedAt()
            .flatMap(started -> job.progressAt().map(at -> Duration.between(started, at)))
            .filter(length -> length.toMillis() > 0);
    Optional<String> rate =
        progress.progressCount().isPresent() && job.state().isLeased()
            ? taken.map(length ->
                Say.roughly(progress.progressCount().getAsLong() * 1000.0 / length.toMillis())
                    + " / s")
            : Optional.empty();
    Optional<Instant> expected =
        percent.isPresent()
                && percent.getAsDouble() > 0
                && percent.getAsDouble() < 100
                && job.state().isLeased()
            ? taken.flatMap(length ->
                job.progressAt()
                    .map(at ->
                        at.plusMillis(
                            Math.round(
                                length.toMillis()
                                    * (100 - percent.getAsDouble())
                                    / percent.getAsDouble()))))
            : Optional.empty();
    return Optional.of(
        new ProgressView(
            percent.isPresent()
                ? Optional.of(String.format(Locale.ROOT, "%.1f", percent.getAsDouble()))
                : Optional.empty(),
            count(job),
            rate,
            expected,
            progress.message(),
            progress.cursor(),
            job.progressAt()));
  }

  private static OptionalDouble percent(Job job) {
    Progress progress = job.progress();
    if (progress.percent().isPresent()) {
      return progress.percent();
    }
    Optional<Long> target = job.policy().targetCount();
    return target.isPresent() && progress.resultCount().isPresent()
        ? OptionalDouble.of(
            Math.min(100, 100.0 * progress.resultCount().getAsLong() / target.get()))
        : OptionalDouble.empty();
  }

  private static Optional<String> count(Job job) {
    Progress progress = job.progress();
    if (progress.resultCount().isPresent()) {
      return Optional.of(
          Say.number(progress.resultCount().getAsLong())
              + job.policy().targetCount().map(of -> " of " + Say.number(of)).orElse("")
              + " results");
    }
    return progress.progressCount().isPresent()
        ? Optional.of(Say.number(progress.progressCount().getAsLong()) + " done")
        : Optional.empty();
  }
}
