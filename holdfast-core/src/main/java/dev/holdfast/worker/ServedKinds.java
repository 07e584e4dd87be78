package dev.holdfast.worker;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The kinds that a worker runs, now.
 *
 * @param own the kinds that it was built with
 * @param registered the kinds that are registered while it runs
 */
public record ServedKinds(Set<String> own, RegisteredKinds registered) {

  /** The kinds that it runs in any tenant. */
  public Set<String> all() {
    return with(registered.all());
  }

  /**
   * The kinds that it runs in one tenant. A kind that another tenant registered may be other
   * workers' here.
   */
  public Set<String> of(String tenant) {
    return with(registered.of(tenant));
  }

  private Set<String> with(Set<String> others) {
    return others.isEmpty()
        ? own
        : Stream.concat(own.stream(), others.stream()).collect(Collectors.toUnmodifiableSet());
  }
}
