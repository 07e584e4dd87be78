package dev.holdfast.worker;

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/**
 * Threads on which handlers' reports are said, as many as handlers wait for at once; idle ones end.
 *
 * <p>Not virtual ones: before Java 24 a handler that waits inside {@code synchronized} keeps its
 * carrier, and as many of them as there are processors would wait for reports that nothing carries.
 */
final class ReportThreads {

  private ReportThreads() {}

  static Executor make() {
    return Executors.newCachedThreadPool(work -> {
      Thread thread =
          Thread.ofPlatform()
              .daemon()
              .name("holdfast-report")
              .inheritInheritableThreadLocals(false) // they serve other jobs, too
              .unstarted(work);
      thread.setContextClassLoader(ReportThreads.class.getClassLoader());
      return thread;
    });
  }
}
