package dev.holdfast.queue;

import dev.holdfast.job.JobState;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Needs;
import java.util.Optional;
import java.util.Set;

/**
 * A filter for jobs. A job matches if it has all the given values; an empty field matches every
 * job.
 *
 * @param states any one of these; empty matches every state
 * @param worker the worker that has the job, or that had its last attempt
 * @param errorText the error code, or a part of the error message, regardless of case
 */
public record JobFilter(
    Set<JobState> states,
    Optional<String> queue,
    Optional<String> kind,
    Optional<String> target,
    Optional<String> resource,
    Optional<String> tag,
    Optional<String> worker,
    Optional<String> errorText) {

  public static final JobFilter ALL =
      new JobFilter(
          Set.of(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());

  public JobFilter {
    states = Set.copyOf(states);
    queue.ifPresent(name -> Limits.name("queue", name));
    kind.ifPresent(name -> Limits.name("kind", name));
    target.ifPresent(name -> Limits.name("target", name));
    resource.ifPresent(name -> Needs.resource("resource", name));
    tag.ifPresent(name -> Limits.name("tag", name));
    worker.ifPresent(name -> Limits.name("worker", name));
    errorText.ifPresent(text -> Limits.name("error", text));
  }

  public JobFilter withStates(Set<JobState> states) {
    return new JobFilter(states, queue, kind, target, resource, tag, worker, errorText);
  }

  public JobFilter withKind(String kind) {
    return new JobFilter(
        states, queue, Optional.of(kind), target, resource, tag, worker, errorText);
  }

  public JobFilter withTarget(String target) {
    return new JobFilter(
        states, queue, kind, Optional.of(target), resource, tag, worker, errorText);
  }

  public JobFilter withQueue(String queue) {
    return new JobFilter(
        states, Optional.of(queue), kind, target, resource, tag, worker, errorText);
  }
}
