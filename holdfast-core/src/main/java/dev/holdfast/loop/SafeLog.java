package dev.holdfast.loop;

import org.slf4j.Logger;

/**
 * Warns of exceptions that code of the application threw. A logger calls their methods, which may
 * throw as well; and the application's own appenders may. The worker must not end by that.
 */
public final class SafeLog {

  private SafeLog() {}

  /** Logs the exception; if that fails, its class; if even that fails, nothing. */
  public static void warn(Logger log, String message, Throwable thrown) {
    if (!tried(() -> log.warn(message, thrown))) {
      boolean unused = tried(() -> log.warn("{}: {}", message, thrown.getClass().getName()));
    }
  }

  /** Logs something; what that throws ends here. */
  public static void ifPossible(Runnable logging) {
    boolean unused = tried(logging);
  }

  private static boolean tried(Runnable logging) {
    try {
      logging.run();
      return true;
    } catch (Throwable untold) {
      return false;
    }
  }
}
