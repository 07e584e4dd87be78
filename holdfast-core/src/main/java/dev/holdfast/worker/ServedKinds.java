package dev.holdfast.worker;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The kinds that a worker runs, now.
 *
 * @param own those that it was built with
 */
public record ServedKinds(Set<String> own, RegisteredKinds registered) {

  /** In all tenants. */
  public Set<String> all() {
    return with(registered.all());
  }

  /** In one: what another tenant registered may be somebody else's here. */
  public Set<String> of(String tenant) {
    return with(registered.of(tenant));
  }

  private Set<String> with(Set<String> others) {
    return others.isEmpty()
        ? own
        : Stream.concat(own.stream(), others.stream()).collect(Collectors.toUnmodifiableSet());
  }
}
