package dev.holdfast.queue;

import dev.holdfast.job.Limits;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Changes to a waiting job. An empty field stays as it is. */
public record Changes(
    Optional<Instant> runAt, Optional<Integer> priority, Optional<List<String>> tags) {

  public static final Changes NONE =
      new Changes(Optional.empty(), Optional.empty(), Optional.empty());

  public Changes {
    runAt.ifPresent(moment -> Limits.moment("run_at", moment));
    priority.ifPresent(Limits::priority);
    tags = tags.map(Limits::tags);
  }

  public Changes withRunAt(Instant runAt) {
    return new Changes(Optional.of(runAt), priority, tags);
  }

  public Changes withPriority(int priority) {
    return new Changes(runAt, Optional.of(priority), tags);
  }

  public Changes withTags(List<String> tags) {
    return new Changes(runAt, priority, Optional.of(tags));
  }
}
