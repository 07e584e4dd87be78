package dev.holdfast.server;

import dev.holdfast.server.Caller.Reply;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.Map;
import java.util.Optional;

/**
 * A client of another system: it knows an address and what its document says, and neither tokens
 * nor content types.
 */
record PlainHttp(String base, Map<String, String> headers) {

  static PlainHttp at(String base) {
    return new PlainHttp(base, Map.of());
  }

  PlainHttp with(String header, String value) {
    return with(Map.of(header, value));
  }

  PlainHttp with(Map<String, String> headers) {
    return new PlainHttp(base, headers);
  }

  Reply get(String path) {
    return send("GET", path, Optional.empty());
  }

  Reply post(String path) {
    return send("POST", path, Optional.empty());
  }

  Reply post(String path, String body) {
    return send("POST", path, Optional.of(body));
  }

  Reply send(String method, String path, Optional<String> body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + path))
            .method(method, body.map(BodyPublishers::ofString).orElse(BodyPublishers.noBody()));
    headers.forEach(request::header);
    return Caller.send(request.build());
  }
}
