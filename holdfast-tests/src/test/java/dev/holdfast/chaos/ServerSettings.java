package dev.holdfast.chaos;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletionException;

/** Settings that only a server knows: the core has none of the dialects'. */
final class ServerSettings {

  private ServerSettings() {}

  static void put(String url, String setting, int value) throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url + "/api/v1/settings/" + setting))
            .header("Content-Type", "application/json")
            .PUT(BodyPublishers.ofString("{\"value\": " + value + "}"))
            .build();
    try (HttpClient http = HttpClient.newHttpClient()) {
      Again.until(() -> {
        int status = 0;
        try {
          status = http.sendAsync(request, BodyHandlers.discarding()).join().statusCode();
        } catch (CompletionException e) {
          // Its cable may lead elsewhere for a moment.
        }
        if (status != 200) {
          throw new HoldfastException(
              ErrorCode.UNAVAILABLE, setting + " was answered with " + status);
        }
      });
    }
  }
}
