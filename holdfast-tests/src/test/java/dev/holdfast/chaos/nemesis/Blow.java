package dev.holdfast.chaos.nemesis;

/** What the nemesis does, and how often in a minute. */
public enum Blow {
  KILL(16),
  FREEZE(6),
  TERMINATE(2),
  KILL_SERVER(0.7),
  TERMINATE_SERVER(0.7),
  CUT_WORKERS_FROM_SERVER(3),
  CUT_WORKERS_FROM_DATABASE(3),
  CUT_SERVERS_FROM_DATABASE(2),
  /** Of workers that lease over HTTP. */
  LOSE_CLAIM(4),
  LOSE_PULL(3),
  /** Of workers on the database. */
  LOSE_DATABASE_CLAIM(2),
  LOSE_COMMIT(2),
  /**
   * All its processes, as after a crash of one of them; only where the database is nobody else's.
   */
  CRASH_DATABASE(0.3);

  private final double perMinute;

  Blow(double perMinute) {
    this.perMinute = perMinute;
  }

  double perMinute() {
    return perMinute;
  }
}
