package dev.holdfast.fleet;

import java.util.Set;

/**
 * Which hosts have a live worker of a tenant, so that a job that merely prefers a host does not
 * wait for an absent one. A hint that may be a few seconds old.
 */
@FunctionalInterface
public interface Hosts {

  Set<String> online();
}
