package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.HoldfastClient;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class RunCommandTest {

  @Test
  void whose_server_is_away_is_told_that_the_job_goes_on() throws IOException {
    int port;
    try (ServerSocket nobody = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = nobody.getLocalPort();
    }
    StringWriter said = new StringWriter();
    UUID id = UUID.randomUUID();

    try (HoldfastClient client = HoldfastClient.at("http://127.0.0.1:" + port)) {
      RunCommand.cancelUnless(new AtomicBoolean(), client, id, new PrintWriter(said));
    }

    assertThat(said.toString()).startsWith("holdfast: job " + id + " goes on").hasLineCount(1);
  }
}
