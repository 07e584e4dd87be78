package dev.holdfast.server.notify;

import dev.holdfast.executor.OwnAddresses;
import dev.holdfast.server.http.Networks;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Decides which addresses webhooks may call. A tenant's admin chooses the address and the server
 * calls it, from its own network: addresses that only the server can reach, on its machine and in
 * its networks, are forbidden unless the operator of the server allows them.
 */
public final class Receivers {

  // Addresses that the registries of special addresses exclude from the public internet, or that
  // are IPv4 addresses in another form. Of IPv6, only 2000::/3 has ever been allocated.
  private static final Networks GIVEN_OUT = new Networks("ipv6", Set.of("2000::/3"));
  private static final Networks SPECIAL =
      new Networks(
          "special",
          Set.of(
              "0.0.0.0/8", // this machine, on some systems
              "10.0.0.0/8",
              "100.64.0.0/10", // carriers' own, and the metadata of some clouds
              "127.0.0.0/8",
              "169.254.0.0/16", // where most clouds give a machine its keys
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

  /** Resolves a host name. */
  @FunctionalInterface
  interface Lookup {
    InetAddress[] of(String host) throws UnknownHostException;
  }

  private final Networks allowed;
  private final Lookup lookup;
  private final Predicate<InetAddress> own;

  /**
   * Allows the public internet and these networks.
   *
   * @param networks networks or addresses, like {@code 10.0.0.0/8}
   */
  public Receivers(Set<String> networks) {
    this(networks, InetAddress::getAllByName);
  }

  Receivers(Set<String> networks, Lookup lookup) {
    this(networks, lookup, OwnAddresses::contain);
  }

  Receivers(Set<String> networks, Lookup lookup, Predicate<InetAddress> own) {
    this.allowed = new Networks("webhook-networks", networks);
    this.lookup = lookup;
    this.own = own;
  }

  /**
   * The addresses of a host. The caller must connect to these, because the name can be made to
   * point elsewhere at any moment, also between the check and the call.
   *
   * @return empty where one of them is forbidden
   */
  Optional<List<InetAddress>> addressesOf(String host) throws UnknownHostException {
    List<InetAddress> addresses = List.of(lookup.of(host));
    return addresses.stream().allMatch(address -> isPublic(address) || allowed.contain(address))
        ? Optional.of(addresses)
        : Optional.empty();
  }

  private boolean isPublic(InetAddress address) {
    return !SPECIAL.contain(address)
        && !own.test(address)
        && (!(address instanceof Inet6Address) || GIVEN_OUT.contain(address));
  }
}
