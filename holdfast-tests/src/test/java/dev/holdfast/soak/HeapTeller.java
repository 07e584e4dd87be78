package dev.holdfast.soak;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * Says how much of a process's heap is in use once all was collected that nobody can reach, so that
 * what garbage does meanwhile hides nothing.
 */
final class HeapTeller {

  private HeapTeller() {}

  /** In the process that is measured; answers where it listens. */
  static int start() throws IOException {
    ServerSocket listening = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().daemon().name("heap-teller").start(() -> tell(listening));
    return listening.getLocalPort();
  }

  private static void tell(ServerSocket listening) {
    while (true) {
      try (Socket asker = listening.accept()) {
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        String bytes = String.valueOf(runtime.totalMemory() - runtime.freeMemory());
        asker.getOutputStream().write(bytes.getBytes(StandardCharsets.US_ASCII));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** From whoever measures. */
  static long bytesInUse(int port) throws IOException {
    try (Socket process = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return Long.parseLong(
          new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII));
    }
  }
}
