package dev.holdfast.server.http;

import dev.holdfast.error.HoldfastException;
import java.net.InetAddress;
import java.util.Set;
import org.eclipse.jetty.util.InetAddressSet;

/** Addresses and networks that a setting names. Immutable. */
public final class Networks {

  private final InetAddressSet members = new InetAddressSet();

  /**
   * Parses addresses and networks.
   *
   * @param setting the setting that they come from, for the error message
   * @param networks networks or addresses, like {@code 10.0.0.0/8}
   */
  public Networks(String setting, Set<String> networks) {
    for (String network : networks) {
      try {
        members.add(network);
      } catch (IllegalArgumentException e) {
        throw HoldfastException.badConfig(
            setting, network, "addresses or networks, like 10.0.0.5 or 10.0.0.0/8");
      }
    }
  }

  public boolean contain(InetAddress address) {
    return members.test(address);
  }
}
