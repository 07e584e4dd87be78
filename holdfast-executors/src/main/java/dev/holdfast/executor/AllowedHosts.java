package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** The hosts that HTTP calls may reach: none, unless configured. Immutable. */
final class AllowedHosts {

  // A name or an address, or *. and a name for all names below it.
  private static final Pattern ENTRY =
      Pattern.compile("(\\*\\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\\[[0-9a-f:.]+]");

  // Where machines of clouds get their keys, besides link-local addresses.
  private static final Set<String> METADATA =
      Set.of("fd00:ec2:0:0:0:0:0:254", "fd20:ce:0:0:0:0:0:254", "100.100.100.200", "192.0.0.192");

  private static final int IPV4 = 4;

  /** Resolves a host name. */
  @FunctionalInterface
  interface Lookup {
    InetAddress[] of(String host) throws UnknownHostException;
  }

  private final Set<String> exact = new HashSet<>();
  private final Set<String> suffixes = new HashSet<>();
  private final Lookup lookup;

  AllowedHosts(Set<String> entries) {
    this(entries, InetAddress::getAllByName);
  }

  AllowedHosts(Set<String> entries, Lookup lookup) {
    this.lookup = lookup;
    for (String entry : entries) {
      String host = entry.toLowerCase(Locale.ROOT);
      if (!ENTRY.matcher(host).matches()) {
        throw HoldfastException.badConfig(
            "executors.allowed-hosts", entry, "names such as example.org or *.example.org");
      }
      if (host.startsWith("*")) {
        suffixes.add(host.substring(1));
      } else {
        exact.add(host);
      }
    }
  }

  boolean allow(String host) {
    String name = host.toLowerCase(Locale.ROOT);
    return exact.contains(name) || suffixes.stream().anyMatch(name::endsWith);
  }

  /**
   * Whether a host that is allowed only by a wildcard resolves to this machine or to where a cloud
   * keeps its keys. A host that is listed by name may resolve to anything, and a wildcard into
   * private networks, which it is mostly for. The JVM caches the addresses for longer than it takes
   * from here to the call.
   */
  boolean leadsAstray(String host) throws UnknownHostException {
    return !exact.contains(host.toLowerCase(Locale.ROOT))
        && Arrays.stream(lookup.of(host)).anyMatch(AllowedHosts::isOffLimits);
  }

  private static boolean isOffLimits(InetAddress address) {
    byte[] bytes = address.getAddress();
    return address.isLoopbackAddress()
        || address.isAnyLocalAddress()
        || (bytes.length == IPV4 && bytes[0] == 0) // this machine, on some systems
        || address.isLinkLocalAddress()
        || address.isMulticastAddress()
        || METADATA.contains(address.getHostAddress())
        || OwnAddresses.contain(address)
        || inner(bytes).filter(AllowedHosts::isOffLimits).isPresent();
  }

  /** The IPv4 address that an IPv6 address leads to, through a gateway or a tunnel. */
  private static Optional<InetAddress> inner(byte[] bytes) {
    if (bytes.length == IPV4) {
      return Optional.empty();
    }
    byte[] last = Arrays.copyOfRange(bytes, 12, 16);
    if (starts(bytes, 0x20, 0x02)) { // 6to4
      return Optional.of(ipv4(Arrays.copyOfRange(bytes, 2, 6)));
    }
    if (starts(bytes, 0x20, 0x01, 0, 0)) { // Teredo, which inverts every bit
      for (int i = 0; i < IPV4; i++) {
        last[i] = (byte) ~last[i];
      }
      return Optional.of(ipv4(last));
    }
    boolean behind = // ::1.2.3.4, and the gateways' 64:ff9b::1.2.3.4, with or without a prefix
        starts(bytes, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) || starts(bytes, 0, 0x64, 0xff, 0x9b);
    return behind ? Optional.of(ipv4(last)) : Optional.empty();
  }

  private static boolean starts(byte[] bytes, int... prefix) {
    for (int i = 0; i < prefix.length; i++) {
      if (bytes[i] != (byte) prefix[i]) {
        return false;
      }
    }
    return true;
  }

  private static InetAddress ipv4(byte[] bytes) {
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("four bytes are an address", e);
    }
  }
}
