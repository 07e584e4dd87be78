package dev.holdfast.loop;

/** Work that is done when the process is told to end, by SIGTERM or by itself. */
public final class AtExit implements AutoCloseable {

  private final Thread hook;

  private AtExit(Thread hook) {
    this.hook = hook;
  }

  public static AtExit run(String name, Runnable work) {
    Thread hook = Thread.ofPlatform().name(name).unstarted(work);
    Runtime.getRuntime().addShutdownHook(hook);
    return new AtExit(hook);
  }

  /** The work is no longer needed; does nothing when the process is ending already. */
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // Ending: the hook runs, or has run.
    }
  }
}
