package dev.holdfast.server.ui;

import dev.holdfast.job.AttemptRecord;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The history of a job, drawn to scale: when it waited, when it ran, and how each attempt ended.
 *
 * @param width the width of the drawing, in its own units
 */
record Timeline(List<Part> parts, List<Mark> marks, int width, String length) {

  private static final int WIDTH = 1_000;
  private static final double THINNEST = 4;

  /** A period of the history. */
  record Part(String x, String width, String look, String title) {}

  /** A moment of the history. */
  record Mark(String percent, String look, String label, Instant at) {}

  static Timeline of(Job job, List<AttemptRecord> attempts, Instant now) {
    Instant from = job.createdAt();
    Instant to = job.finishedAt().orElse(now.isAfter(from) ? now : from.plusSeconds(1));
    Scale scale = new Scale(from, to);
    List<Part> parts = new ArrayList<>();
    Instant at = from;
    for (AttemptRecord attempt : attempts) {
      if (attempt.startedAt().isBefore(from)) {
        continue; // a test has moved the clock
      }
      waited(parts, scale, job, at, attempt.startedAt());
      parts.add(
          scale.part(
              attempt.startedAt(),
              attempt.finishedAt(),
              "ran " + attempt.outcome().toLowerCase(Locale.ROOT),
              "Attempt %d %s after %s on %s"
                  .formatted(
                      attempt.number(),
                      attempt.outcome(),
                      Say.since(attempt.startedAt(), attempt.finishedAt()),
                      attempt.worker())));
      at = attempt.finishedAt();
    }
    Instant rest = at;
    if (job.state().isLeased() && job.startedAt().isPresent()) {
      Instant started = job.startedAt().get();
      waited(parts, scale, job, rest, started);
      parts.add(
          scale.part(
              started,
              to,
              "ran " + job.state().stored(),
              "Attempt %d runs since %s".formatted(job.attempt(), Say.since(started, now))));
    } else if (to.isAfter(rest)) {
      waited(parts, scale, job, rest, to);
    }
    List<Mark> marks = new ArrayList<>();
    marks.add(scale.mark("queued", "created", from));
    if (job.runAt().isAfter(from.plusSeconds(1)) && job.runAt().isBefore(to)) {
      marks.add(scale.mark("due", "due", job.runAt()));
    }
    marks.add(
        scale.mark(
            job.state().stored(), job.state().isFinished() ? job.state().stored() : "now", to));
    return new Timeline(parts, marks, WIDTH, Say.since(from, to));
  }

  // Until it is due the job sleeps; from then on it waits.
  private static void waited(List<Part> parts, Scale scale, Job job, Instant from, Instant to) {
    if (!to.isAfter(from)) {
      return;
    }
    String look = job.state() == JobState.PAUSED ? "waited paused" : "waited";
    Instant due = job.runAt();
    if (due.isAfter(from) && due.isBefore(to)) {
      parts.add(scale.part(from, due, "slept", "Not due for " + Say.since(from, due)));
      parts.add(scale.part(due, to, look, "Waited " + Say.since(due, to)));
    } else {
      String words = due.isAfter(to) ? "Not due for " : "Waited ";
      parts.add(
          scale.part(from, to, due.isAfter(to) ? "slept" : look, words + Say.since(from, to)));
    }
  }

  private record Scale(Instant from, Instant to) {

    private double x(Instant at) {
      double whole = Math.max(1, Duration.between(from, to).toMillis());
      double share = Duration.between(from, at).toMillis() / whole;
      return Math.clamp(share, 0, 1) * WIDTH;
    }

    private Part part(Instant begin, Instant end, String look, String title) {
      double left = x(begin);
      double wide = Math.max(THINNEST, x(end) - left); // short attempts must stay visible
      return new Part(text(Math.min(left, WIDTH - wide)), text(wide), look, title);
    }

    private Mark mark(String look, String label, Instant at) {
      return new Mark(text(x(at) / WIDTH * 100), look, label, at);
    }

    private static String text(double number) {
      return String.format(Locale.ROOT, "%.1f", number);
    }
  }
}
