package dev.holdfast.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.api.Json;
import io.javalin.http.Context;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;

/**
 * A list that is sent while it is read, for clients that cannot ask for the next page. A row may
 * have half a megabyte, so the whole list is never in memory.
 */
public final class Listing {

  /** The answer after the list has been sent: nothing is left to send. */
  private static final Answer SENT = new Answer(200, "application/json", "");

  private final Context http;
  private final int status;
  private final String before;
  private final String after;
  private OutputStream out = OutputStream.nullOutputStream();
  private boolean begun;

  private Listing(Context http, int status, String before, String after) {
    this.http = http;
    this.status = status;
    this.before = before;
    this.after = after;
  }

  /** Reads the rows, and passes each one on. */
  @FunctionalInterface
  public interface Rows {
    void each(Consumer<JsonNode> row);
  }

  /** Answers {@code [row, …]}. */
  public static Answer send(Request request, Rows rows) throws IOException {
    return new Listing(request.http(), 200, "[", "]").send(rows);
  }

  /**
   * Answers an object that contains a list.
   *
   * @param before the text of the object up to the first row of the list
   */
  public static Answer send(Request request, int status, String before, Rows rows)
      throws IOException {
    return new Listing(request.http(), status, before, "]}").send(rows);
  }

  private Answer send(Rows rows) throws IOException {
    try {
      rows.each(this::write);
      begin();
      out.write(after.getBytes(UTF_8));
      out.close();
      http.res().getOutputStream().close();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    return SENT;
  }

  // Called with the first row, so that an error before it gets its own answer. A later error leaves
  // half a list, which no client takes for a complete one.
  private boolean begin() throws IOException {
    if (begun) {
      return false;
    }
    begun = true;
    http.status(status);
    http.contentType(SENT.contentType());
    http.header("Cache-Control", "no-store");
    Sending.dress(http);
    out = http.outputStream(); // compresses if the client asks for it
    out.write(before.getBytes(UTF_8));
    return true;
  }

  private void write(JsonNode row) {
    try {
      if (!begin()) {
        out.write(',');
      }
      out.write(Json.write(row).getBytes(UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
