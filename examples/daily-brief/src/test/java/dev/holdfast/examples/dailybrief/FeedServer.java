package dev.holdfast.examples.dailybrief;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;

/** Serves feeds on this machine alone, and remembers what it was asked for. */
final class FeedServer implements AutoCloseable {

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final CountDownLatch end = new CountDownLatch(1);

  FeedServer() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(threads);
    server.start();
  }

  /** The address of a feed that is served so. */
  String serve(String path, HttpHandler handler) {
    server.createContext(
        path,
        exchange -> {
          asked.add(path);
          try (exchange) {
            handler.handle(exchange);
          }
        });
    return url(path);
  }

  String serve(String path, String body) {
    return serve(path, exchange -> send(exchange, body));
  }

  /** Keeps whoever asks waiting, after so much of the body. */
  String serveSlowly(String path, String begin) {
    return serve(
        path,
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          OutputStream body = exchange.getResponseBody();
          body.write(begin.getBytes(StandardCharsets.UTF_8));
          body.flush();
          awaitEnd();
        });
  }

  void awaitEnd() {
    try {
      end.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  String url(String path) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  /** The paths that were asked for, in their order. */
  List<String> asked() {
    return asked;
  }

  static void send(HttpExchange exchange, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/rss+xml");
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  /** A feed of articles with these titles, each under an address made from its title. */
  static String rss(String... titles) {
    return channel(
        Arrays.stream(titles)
            .map(title -> item(title, address(title), Instant.now()))
            .collect(Collectors.joining()));
  }

  static String channel(String items) {
    return """
    <?xml version="1.0" encoding="UTF-8"?>
    <rss version="2.0"><channel>
      <title>News</title><link>https://news.example.org</link><description>All</description>
      %s
    </channel></rss>
    """
        .formatted(items);
  }

  static String item(String title, String link, Instant published) {
    return """
    <item><title>%s</title><link>%s</link><description>About %s</description>
      <pubDate>%s</pubDate></item>
    """
        .formatted(
            title,
            link,
            title,
            DateTimeFormatter.RFC_1123_DATE_TIME.format(published.atOffset(ZoneOffset.UTC)));
  }

  static String address(String title) {
    return "https://news.example.org/" + title.replace(' ', '-');
  }

  @Override
  public void close() {
    end.countDown();
    server.stop(0);
    threads.close();
  }
}
