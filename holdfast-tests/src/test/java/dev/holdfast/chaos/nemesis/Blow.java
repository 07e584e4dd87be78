package dev.holdfast.chaos.nemesis;

/** What the nemesis does, and how often in a minute. */
public enum Blow {
  KILL(16, "workers and agents killed"),
  FREEZE(6, "frozen past the lease"),
  TERMINATE(2, "terminated"),
  KILL_SERVER(0.7, "servers killed"),
  TERMINATE_SERVER(0.7, "servers terminated"),
  /** With its scheduler and its reaper, which wake with what they knew before. */
  FREEZE_SERVER(0.8, "servers frozen past the lease"),
  CUT_WORKERS_FROM_SERVER(3, "links of workers to a server cut"),
  CUT_WORKERS_FROM_DATABASE(3, "links of workers to the database cut"),
  CUT_SERVERS_FROM_DATABASE(2, "links of servers to the database cut"),
  CUT_APPLICATIONS_FROM_DATABASE(2, "links of applications to the database cut"),
  /** Nothing gets through, and nobody is told; then it arrives after all. */
  HOLD_WORKERS_FROM_SERVER(0.9, "links of workers to a server held past the lease"),
  HOLD_WORKERS_FROM_DATABASE(0.9, "links of workers to the database held past the lease"),
  HOLD_SERVERS_FROM_DATABASE(0.9, "links of servers to the database held past the lease"),
  /** Of workers that lease over HTTP. */
  LOSE_CLAIM(4, "claims over HTTP whose answer was lost"),
  LOSE_PULL(3, "pulls whose answer was lost"),
  LOSE_ENQUEUE(2, "batches of jobs enqueued over HTTP whose answer was lost"),
  LOSE_ENQUEUE_COMMIT(2, "transactions that enqueued a batch whose answer was lost"),
  /** Of agents of the dialect. */
  LOSE_NEXT_JOB(1.5, "agents of the dialect that were given a job and not told"),
  /** Of workers on the database. */
  LOSE_DATABASE_CLAIM(2, "claims on the database that got something and were not told"),
  LOSE_COMMIT(2, "commits whose answer was lost"),
  /**
   * All its processes, as after a crash of one of them; only where the database is nobody else's.
   */
  CRASH_DATABASE(0.3, "crashes of the database");

  private final double perMinute;
  private final String words;

  Blow(double perMinute, String words) {
    this.perMinute = perMinute;
    this.words = words;
  }

  double perMinute() {
    return perMinute;
  }

  /** What it was, once it was dealt. */
  public String words() {
    return words;
  }
}
