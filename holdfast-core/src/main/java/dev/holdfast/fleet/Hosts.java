package dev.holdfast.fleet;

import java.util.Set;

/**
 * Which hosts have a live worker of a tenant that takes jobs, so that a job that merely prefers a
 * host does not wait for one that is absent or drains. A hint that may be a few seconds old.
 */
@FunctionalInterface
public interface Hosts {

  Set<String> online();
}
