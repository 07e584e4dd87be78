package dev.holdfast.loop;

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/**
 * Platform threads for short work that a handler waits for: as many as there is work at once, and
 * reused; an idle one ends after a minute.
 *
 * <p>Not virtual threads: before Java 24 a virtual thread that waits inside {@code synchronized}
 * keeps its carrier. If as many handlers as there are processors wait like that for work on other
 * virtual threads, that work never gets a carrier.
 */
public final class SpareThreads {

  private SpareThreads() {}

  public static Executor named(String name) {
    return Executors.newCachedThreadPool(work -> {
      Thread thread =
          Thread.ofPlatform()
              .daemon()
              .name(name)
              .inheritInheritableThreadLocals(false) // a thread serves one job after another
              .unstarted(work);
      thread.setContextClassLoader(SpareThreads.class.getClassLoader());
      return thread;
    });
  }
}
