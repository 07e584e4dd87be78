package dev.holdfast.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.api.ApiVersion;
import io.javalin.http.Context;
import java.io.IOException;
import java.io.OutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends answers, with the headers that every answer has. */
final class Sending {

  private static final Logger log = LoggerFactory.getLogger(Sending.class);

  // Only a client that has closed its sending direction, but still reads, ever sees this status.
  private static final int NOBODY_LISTENS = 408;

  // Nothing inline, nothing from other sites, and no embedding in frames.
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
          + " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

  private Sending() {}

  static void send(Context http, Answer answer) {
    if (http.res().isCommitted()) {
      return; // it was streamed
    }
    http.status(answer.status());
    if (!answer.body().isEmpty()) {
      http.contentType(answer.contentType());
    }
    if (http.res().getHeader("Cache-Control") == null) {
      http.header("Cache-Control", "no-store");
    }
    if (answer.status() == 401 && !answer.isPage()) {
      http.header("WWW-Authenticate", "Bearer");
    }
    if (answer.unread().isPresent()) {
      sendNow(http, answer, answer.unread().get());
    } else if (!answer.body().isEmpty()) {
      // As bytes: of a text, the container decides the encoding, and for a type that it does not
      // know, like application/problem+json, it takes ISO 8859-1.
      http.result(answer.body().getBytes(UTF_8));
    }
  }

  // Writes to the last byte, because a later write by the container would not report a failure.
  // What the network has accepted may still be lost; but an answer that it refused was not read, at
  // least not completely.
  private static void sendNow(Context http, Answer answer, Runnable unread) {
    dress(http);
    if (ClientConnection.isCut(http)) {
      unread.run();
      http.status(NOBODY_LISTENS);
      return;
    }
    try {
      OutputStream out = http.outputStream(); // compresses if the client asks for it
      out.write(answer.body().getBytes(UTF_8));
      out.close();
      http.res().getOutputStream().close();
    } catch (IOException e) {
      log.debug("Somebody went away before the end of the answer", e);
      unread.run();
    }
  }

  /** Sets the headers that every answer has. */
  static void dress(Context http) {
    http.header("X-Content-Type-Options", "nosniff");
    http.header(ApiVersion.HEADER, String.valueOf(ApiVersion.CURRENT));
    http.header("Content-Security-Policy", POLICY);
    http.header("X-Frame-Options", "DENY"); // for clients that do not know the policy
    http.header("Cross-Origin-Opener-Policy", "same-origin");
    http.header("Cross-Origin-Resource-Policy", "same-origin");
    http.header("Referrer-Policy", "same-origin"); // addresses contain names
  }
}
