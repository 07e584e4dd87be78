package dev.holdfast.bench.contender;

/** Rows that lie around while other jobs are worked off. */
public enum Backlog {
  /** Just like the jobs that are run, and due after them. */
  SAME("queued behind"),
  OTHER_QUEUE("in another queue"),
  UNSERVED_KIND("of a kind nobody serves"),
  ABSENT_HOST("for an absent host"),
  /** Not due for days, but before all others once they are. */
  FAR_FUTURE("due in the far future, with better priority"),
  FINISHED("finished and kept");

  private final String words;

  Backlog(String words) {
    this.words = words;
  }

  @Override
  public String toString() {
    return words;
  }
}
