package dev.holdfast.server.notify;

import dev.holdfast.server.http.Networks;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Where webhooks may lead. A tenant's admin chooses the address and the server calls it, from where
 * it stands: what only it can reach, on this machine and in its own networks, is off limits unless
 * whoever runs the server says otherwise.
 */
public final class Receivers {

  // What the registries of special addresses keep from the open internet, or what leads back into
  // IPv4 by another spelling. Of IPv6, nothing but 2000::/3 has ever been given to anybody.
  private static final Networks GIVEN_OUT = new Networks("ipv6", Set.of("2000::/3"));
  private static final Networks SPECIAL =
      new Networks(
          "special",
          Set.of(
              "0.0.0.0/8", // this machine, to some systems
              "10.0.0.0/8",
              "100.64.0.0/10", // a provider's own, and the metadata of some clouds
              "127.0.0.0/8",
              "169.254.0.0/16", // where most clouds tell a machine its keys
              "172.16.0.0/12",
              "192.0.0.0/24",
              "192.0.2.0/24",
              "192.88.99.0/24",
              "192.168.0.0/16",
              "198.18.0.0/15",
              "198.51.100.0/24",
              "203.0.113.0/24",
              "224.0.0.0/4",
              "240.0.0.0/4",
              "2001::/23", // tunnels, among them Teredo
              "2001:db8::/32",
              "2002::/16", // IPv4 in IPv6
              "3fff::/20"));

  /** Finds the addresses of a name. */
  @FunctionalInterface
  interface Lookup {
    InetAddress[] of(String host) throws UnknownHostException;
  }

  private final Networks allowed;
  private final Lookup lookup;

  /**
   * Those of the open internet, and these.
   *
   * @param networks or addresses, like {@code 10.0.0.0/8}
   */
  public Receivers(Set<String> networks) {
    this(networks, InetAddress::getAllByName);
  }

  Receivers(Set<String> networks, Lookup lookup) {
    this.allowed = new Networks("webhook-networks", networks);
    this.lookup = lookup;
  }

  /**
   * The addresses of a host, which are then the ones to call: a name can be made to point elsewhere
   * at any moment, also between being looked at and being called.
   *
   * @return empty where one of them is off limits
   */
  Optional<List<InetAddress>> addressesOf(String host) throws UnknownHostException {
    List<InetAddress> addresses = List.of(lookup.of(host));
    return addresses.stream().allMatch(address -> isPublic(address) || allowed.contain(address))
        ? Optional.of(addresses)
        : Optional.empty();
  }

  private static boolean isPublic(InetAddress address) {
    return !SPECIAL.contain(address)
        && (!(address instanceof Inet6Address) || GIVEN_OUT.contain(address));
  }
}
