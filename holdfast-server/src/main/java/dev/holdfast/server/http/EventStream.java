package dev.holdfast.server.http;

import dev.holdfast.api.Json;
import io.javalin.http.Context;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/** Server-sent events, written by the thread that serves the request. */
public final class EventStream implements AutoCloseable {

  /** The answer of a route that has streamed: nothing is left to send. */
  public static final Answer SENT = new Answer(200, "text/event-stream", "");

  private static final Duration KEEP_ALIVE = Duration.ofSeconds(15);

  private final Request request;
  private final OutputStream out;
  private final long endsAtNanos;
  private long spokeAtNanos = System.nanoTime();

  private EventStream(Request request, OutputStream out, Duration longest) {
    this.request = request;
    this.out = out;
    this.endsAtNanos = System.nanoTime() + longest.toNanos();
  }

  public static EventStream begin(Request request, Duration longest) throws IOException {
    Context http = request.http();
    http.res().setStatus(200);
    http.res().setContentType("text/event-stream");
    http.res().setHeader("Cache-Control", "no-store");
    http.res().setHeader("X-Accel-Buffering", "no");
    http.res().setHeader("X-Content-Type-Options", "nosniff");
    EventStream stream = new EventStream(request, http.res().getOutputStream(), longest);
    stream.write("retry: 2000\n\n");
    return stream;
  }

  public void send(String event, Optional<String> id, ObjectNode data) throws IOException {
    StringBuilder text = new StringBuilder();
    id.ifPresent(given -> text.append("id: ").append(given).append('\n'));
    text.append("event: ").append(event).append('\n');
    text.append("data: ").append(Json.write(data)).append("\n\n");
    write(text.toString());
  }

  /** Waits a little; false when the stream must not go on. */
  public boolean pause(Duration length) throws IOException, InterruptedException {
    boolean served = request.pause(length);
    if (served && System.nanoTime() - spokeAtNanos > KEEP_ALIVE.toNanos()) {
      write(":\n\n"); // fails when the client has hung up
    }
    return lasts();
  }

  /** Whether the stream may go on: it has not lasted long enough, and the node does not end. */
  public boolean lasts() {
    return System.nanoTime() - endsAtNanos < 0 && !request.mustEnd();
  }

  private void write(String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.flush();
    spokeAtNanos = System.nanoTime();
  }

  @Override
  public void close() {
    // The container closes the output with the request.
  }
}
