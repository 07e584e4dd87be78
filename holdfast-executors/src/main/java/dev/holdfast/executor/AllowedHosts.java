package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Where HTTP calls may go: nowhere, unless it is said. Immutable. */
final class AllowedHosts {

  // A name or address, or *. and a name for all that is below it.
  private static final Pattern ENTRY =
      Pattern.compile("(\\*\\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\\[[0-9a-f:.]+]");

  private final Set<String> exact = new HashSet<>();
  private final Set<String> suffixes = new HashSet<>();

  AllowedHosts(Set<String> entries) {
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
}
