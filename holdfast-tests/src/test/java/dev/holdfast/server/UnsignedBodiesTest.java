package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.TestTenant;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whose signature is wrong is found out by reading what was signed, which may be large. */
class UnsignedBodiesTest {

  private static final String REPORT = "/api/report_results";
  private static final int LARGE = 100_000;
  private static final int AT_ONCE = 8;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  @Timeout(120)
  void of_large_ones_only_a_few_are_in_memory_and_who_sends_slowly_makes_way() throws Exception {
    List<RawHttp> slow = new ArrayList<>();
    try {
      for (int i = 0; i < AT_ONCE; i++) {
        RawHttp stranger = stranger();
        stranger.post(REPORT, new byte[1], LARGE, "application/json");
        slow.add(stranger);
      }

      assertThat(answered(10)).as("a small one").startsWith("HTTP/1.1 401");
      do { // until all of them have begun, there is room
        assertThat(answered(LARGE)).as("not refused for want of room").startsWith("HTTP/1.1 401");
      } while (!isAnyHungUpOn(slow));
    } finally {
      for (RawHttp each : slow) {
        each.cut();
      }
    }
  }

  private static boolean isAnyHungUpOn(List<RawHttp> strangers) throws IOException {
    for (RawHttp each : strangers) {
      if (each.isHungUpOn()) {
        return true;
      }
    }
    return false;
  }

  private String answered(int bytes) throws IOException {
    try (RawHttp stranger = stranger()) {
      stranger.post(REPORT, "x".repeat(bytes).getBytes(UTF_8), bytes, "application/json");
      return stranger.answer();
    }
  }

  private RawHttp stranger() throws IOException {
    Caller nobody =
        new Caller(TestServer.shared().port(), Optional.empty(), Optional.of(tenant.name()));
    return RawHttp.to(
        nobody,
        Map.of(
            "X-Auth-Ts",
            String.valueOf(Instant.now().getEpochSecond()),
            "X-Auth-Sign",
            "0".repeat(64)));
  }
}
