package dev.holdfast.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.api.ApiVersion;
import io.javalin.http.Context;
import java.io.IOException;
import java.io.OutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings an answer to whoever asked, with what every answer says of itself. */
final class Sending {

  private static final Logger log = LoggerFactory.getLogger(Sending.class);

  // Seen at most by one who said that there is nothing more to come, and listens all the same.
  private static final int NOBODY_LISTENS = 408;

  // Nothing inline, nothing from elsewhere, and in nobody's frame.
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
      http.result(answer.body());
    }
  }

  // To its last byte, because who writes later does not tell us how that went. What is then in the
  // network's hands may still be lost; but what it refused was read by nobody, at least not whole.
  private static void sendNow(Context http, Answer answer, Runnable unread) {
    dress(http);
    if (ClientConnection.isCut(http)) {
      unread.run();
      http.status(NOBODY_LISTENS);
      return;
    }
    try {
      OutputStream out = http.outputStream(); // compresses where that is wished for
      out.write(answer.body().getBytes(UTF_8));
      out.close();
      http.res().getOutputStream().close();
    } catch (IOException e) {
      log.debug("Somebody went away before the end of the answer", e);
      unread.run();
    }
  }

  /** What stands above every answer. */
  static void dress(Context http) {
    http.header("X-Content-Type-Options", "nosniff");
    http.header(ApiVersion.HEADER, String.valueOf(ApiVersion.CURRENT));
    http.header("Content-Security-Policy", POLICY);
    http.header("X-Frame-Options", "DENY"); // for what does not read the policy
    http.header("Cross-Origin-Opener-Policy", "same-origin");
    http.header("Cross-Origin-Resource-Policy", "same-origin");
    http.header("Referrer-Policy", "same-origin"); // names of things stand in addresses
  }
}
