package dev.holdfast.bench.contender;

import dev.holdfast.bench.measure.Server;

/** One way of queueing jobs in PostgreSQL. What it does not say it can do, it cannot. */
public interface Contender {

  String name();

  Role role();

  /** Its version and what is set otherwise than by default, for all to see beside the figures. */
  String settings();

  /** Whether its queue knows such jobs. */
  default boolean canFill(Backlog backlog) {
    return false;
  }

  /** Whether its queue knows jobs that must not run at once because they share a key. */
  default boolean knowsKeys() {
    return false;
  }

  /** Whether its worker tells how long a claim takes. */
  default boolean tellsClaims() {
    return false;
  }

  /** The most jobs that it stores, or works off, in a time that one can wait for. */
  default int mostJobs() {
    return Integer.MAX_VALUE;
  }

  /** Drops and creates its tables. */
  void reset(Server server);

  /** Opens its queue as it stands, with a connection pool of its own. */
  JobQueue open(Server server);
}
