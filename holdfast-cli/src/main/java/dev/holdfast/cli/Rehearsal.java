package dev.holdfast.cli;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/**
 * Runs typical commands against a fake server. The launcher lets Java record the classes they load,
 * once, so that each later command starts in half the time.
 */
final class Rehearsal {

  private static final byte[] ANSWER =
      """
      {"jobs": [{"id": "0190163d-8694-739b-aea5-966c26f8ad90", "state": "queued", "priority": 50,
                 "kind": "rehearsal", "queue": "default", "created_at": "2026-01-01T00:00:00Z"}],
       "next_cursor": null}
      """
          .getBytes(StandardCharsets.UTF_8);

  private Rehearsal() {}

  public static void main(String[] args) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.getResponseHeaders().add("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, ANSWER.length);
          exchange.getResponseBody().write(ANSWER);
          exchange.close();
        });
    server.start();
    String address = "http://127.0.0.1:" + server.getAddress().getPort();
    int failed =
        Main.run("--help")
            + Main.run("jobs", "list", "--server", address)
            + Main.run("jobs", "show", "x", "--server", address, "-o", "json")
            + Main.run("queues", "list", "--server", address);
    server.stop(0);
    System.exit(failed);
  }
}
