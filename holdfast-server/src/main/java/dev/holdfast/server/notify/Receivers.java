package dev.holdfast.server.notify;

import dev.holdfast.server.http.Networks;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Set;

/**
 * Where webhooks may lead. A tenant's admin chooses the address and the server calls it, from where
 * it stands: what only it can reach, on this machine and in its own networks, is off limits unless
 * whoever runs the server says otherwise.
 */
public final class Receivers {

  private static final byte UNIQUE_LOCAL = (byte) 0xfc; // IPv6's private networks, fc00::/7
  private static final byte SEVEN_BITS = (byte) 0xfe;

  private final Networks allowed;

  /**
   * Those of the open internet, and these.
   *
   * @param networks or addresses, like {@code 10.0.0.0/8}
   */
  public Receivers(Set<String> networks) {
    this.allowed = new Networks("webhook-networks", networks);
  }

  /** Looked up at each delivery: a name can be made to point elsewhere. */
  boolean allow(String host) {
    try {
      return Arrays.stream(InetAddress.getAllByName(host))
          .allMatch(address -> isPublic(address) || allowed.contain(address));
    } catch (UnknownHostException e) {
      return true; // the delivery finds that out, and says so
    }
  }

  private static boolean isPublic(InetAddress address) {
    byte[] bytes = address.getAddress();
    boolean uniqueLocal = bytes.length == 16 && (bytes[0] & SEVEN_BITS) == UNIQUE_LOCAL;
    return !address.isLoopbackAddress()
        && !address.isLinkLocalAddress()
        && !address.isSiteLocalAddress()
        && !address.isAnyLocalAddress()
        && !address.isMulticastAddress()
        && !uniqueLocal;
  }
}
