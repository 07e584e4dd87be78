package dev.holdfast.chaos.fleet;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** Speaks to a server and waits for no answer for long. Thread-safe. */
final class Wire {

  private static final Duration TIMEOUT = Duration.ofSeconds(1);

  private final HttpClient http = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
  private final String url;

  Wire(String url) {
    this.url = url;
  }

  HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(URI.create(url + path)).timeout(TIMEOUT);
  }

  /** A server that could not answer has not: nobody knows what became of it. */
  HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
    HttpResponse<String> answer = http.send(request.build(), BodyHandlers.ofString());
    if (answer.statusCode() / 100 == 5) {
      throw new IOException("HTTP status " + answer.statusCode());
    }
    return answer;
  }
}
