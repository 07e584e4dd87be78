package dev.holdfast.cli;

import java.util.concurrent.CountDownLatch;

/**
 * The end of a command that runs until it is told to stop. The process exits when its shutdown
 * hooks have ended, so the hook waits until everything that the command opened is closed.
 */
final class NodeStop implements AutoCloseable {

  private final CountDownLatch told = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);

  private NodeStop() {}

  static NodeStop ofThisProcess() {
    NodeStop stop = new NodeStop();
    Runtime.getRuntime().addShutdownHook(new Thread(stop::tell, "holdfast-ending"));
    return stop;
  }

  /** Returns when the process is told to end. */
  void await() throws InterruptedException {
    told.await();
  }

  private void tell() {
    told.countDown();
    try {
      closed.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Lets the process exit, because everything is closed. */
  @Override
  public void close() {
    closed.countDown();
  }
}
