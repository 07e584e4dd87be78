package dev.holdfast.chaos.fleet;

/** What a process of the fleet is. */
public enum Role {
  SERVER("s", ServerNode.class, 160),
  DATABASE_WORKER("d", DatabaseWorker.class, 64),
  HTTP_WORKER("h", HttpWorker.class, 64),
  /** Runs commands, which speak to the ledger themselves. */
  AGENT("a", AgentNode.class, 64),
  PULL_WORKER("p", PullWorker.class, 48),
  /** Asks for jobs as agents do that were not made for Holdfast. */
  DIALECT_AGENT("x", DialectAgent.class, 48);

  private final String letter;
  private final Class<?> main;
  private final int heapMegabytes;

  Role(String letter, Class<?> main, int heapMegabytes) {
    this.letter = letter;
    this.main = main;
    this.heapMegabytes = heapMegabytes;
  }

  String letter() {
    return letter;
  }

  Class<?> main() {
    return main;
  }

  int heapMegabytes() {
    return heapMegabytes;
  }
}
