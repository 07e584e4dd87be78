package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Where HTTP calls may go: nowhere, unless it is said. Immutable. */
final class AllowedHosts {

  // A name or address, or *. and a name for all that is below it.
  private static final Pattern ENTRY =
      Pattern.compile("(\\*\\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\\[[0-9a-f:.]+]");

  // Where a cloud's machines of IPv6 ask for their keys; of IPv4 that is link-local.
  private static final String METADATA = "fd00:ec2:0:0:0:0:0:254";

  /** Finds the addresses of a name. */
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
   * Whether a name that nobody wrote down, but a star stands for, leads to this machine or to where
   * a cloud keeps its keys. A name that was written down may lead wherever it does, and a star into
   * the private networks that it is mostly for. The JVM remembers what it was told for longer than
   * it takes from here to the call.
   */
  boolean leadsAstray(String host) throws UnknownHostException {
    return !exact.contains(host.toLowerCase(Locale.ROOT))
        && Arrays.stream(lookup.of(host)).anyMatch(AllowedHosts::isOffLimits);
  }

  private static boolean isOffLimits(InetAddress address) {
    return address.isLoopbackAddress()
        || address.isAnyLocalAddress()
        || address.isLinkLocalAddress()
        || address.isMulticastAddress()
        || address.getHostAddress().equals(METADATA);
  }
}
