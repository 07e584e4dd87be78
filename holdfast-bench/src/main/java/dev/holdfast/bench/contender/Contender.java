package dev.holdfast.bench.contender;

import dev.holdfast.bench.measure.Server;

/** One way of queueing jobs in PostgreSQL. */
public interface Contender {

  String name();

  /** Whether its queue knows such jobs. */
  boolean canFill(Backlog backlog);

  /** Whether its queue knows jobs that must not run at once because they share a key. */
  boolean knowsKeys();

  /** Drops and creates its tables. */
  void reset(Server server);

  /** Opens its queue as it stands, with a connection pool of its own. */
  JobQueue open(Server server);
}
