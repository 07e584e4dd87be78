package dev.holdfast.soak;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Is called by webhooks and by jobs, and counts. */
final class Sink implements AutoCloseable {

  private static final int OK = 204;

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  Sink(Tally tally) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    count("/hook", Feature.WEBHOOKS, tally);
    count("/called", Feature.CALLS, tally);
    server.setExecutor(threads);
    server.start();
  }

  private void count(String path, Feature what, Tally tally) {
    server.createContext(
        path,
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(OK, -1);
          exchange.close();
          tally.count(what);
        });
  }

  String url(String path) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  @Override
  public void close() {
    server.stop(0);
    threads.close();
  }
}
