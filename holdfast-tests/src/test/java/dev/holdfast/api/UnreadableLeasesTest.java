package dev.holdfast.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.lease.ClaimRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** A server, perhaps of a later version, whose leases the client cannot read. */
class UnreadableLeasesTest {

  private final List<String> claimIds = new CopyOnWriteArrayList<>();

  @Test
  void a_worker_does_not_ask_again_for_leases_that_it_cannot_read() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
    ClaimRequest request = ClaimRequest.of("worker", Set.of("default"), 1);

    try (HoldfastClient client =
        HoldfastClient.at("http://127.0.0.1:" + server.getAddress().getPort())) {
      HttpLeases leases = client.leases();
      assertThatThrownBy(() -> leases.claim(request)).isInstanceOf(RuntimeException.class);
      assertThatThrownBy(() -> leases.claim(request)).isInstanceOf(RuntimeException.class);
    } finally {
      server.stop(0);
    }

    assertThat(claimIds).hasSize(2).doesNotHaveDuplicates();
  }

  private void answer(HttpExchange exchange) throws IOException {
    String asked = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    claimIds.add(Verbatim.read(asked).get("claim_id").asString());
    byte[] answer = "{\"leases\": [{\"job\": {}}]}".getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, answer.length);
    exchange.getResponseBody().write(answer);
    exchange.close();
  }
}
