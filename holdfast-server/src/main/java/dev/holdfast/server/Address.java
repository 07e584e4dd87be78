package dev.holdfast.server;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.http.Tls;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;

/**
 * The address on which a node listens.
 *
 * @param port 0 for any free port
 * @param tls without it, everyone on the network path can read along
 */
public record Address(String host, int port, Optional<Tls> tls) {

  static final Address DEFAULT = new Address("127.0.0.1", 8080, Optional.empty());

  public Address {
    if (port < 0 || port > 65_535) {
      throw HoldfastException.badConfig("port", port, "0 to 65535");
    }
  }

  /** Whether only this machine can reach it. */
  public boolean isLoopback() {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      throw HoldfastException.badConfig("host", host, "an address of this machine");
    }
  }

  /** The URL with the port that was chosen. */
  public String url(int taken) {
    return "%s://%s:%d".formatted(tls.isPresent() ? "https" : "http", host, taken);
  }
}
