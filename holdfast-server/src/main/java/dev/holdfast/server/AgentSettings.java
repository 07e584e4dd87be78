package dev.holdfast.server;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.TenantName;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What agents share with the server.
 *
 * @param directory theirs and ours, at the same place on all machines
 * @param hosts that agents may have for names; none is any
 */
public record AgentSettings(Path directory, List<String> hosts) {

  /** In words. */
  public static final String HOSTS = "1 to 128 of letters, digits and _ . : @ + -";

  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.:@+-]{0,127}");
  private static final String DEFAULT_DIRECTORY = "shared";

  public AgentSettings {
    directory = directory.toAbsolutePath().normalize();
    if (directory.getFileName() == null) {
      throw HoldfastException.badConfig("shared-dir", directory, "a directory with a name");
    }
    hosts = hosts.stream().distinct().toList();
    hosts.stream()
        .filter(host -> !isHost(host))
        .findFirst()
        .ifPresent(host -> {
          throw HoldfastException.badConfig("AVAILABLE_HOSTS", host, HOSTS);
        });
  }

  /** What can be a host's name: it becomes a part of files' names. */
  public static boolean isHost(String name) {
    return HOST.matcher(name).matches();
  }

  static AgentSettings defaults(Path data) {
    return new AgentSettings(data.resolve(DEFAULT_DIRECTORY), List.of());
  }

  public AgentSettings withDirectory(Path directory) {
    return new AgentSettings(directory, hosts);
  }

  /** The default tenant's is the directory itself; others' are beside it, and not within. */
  public Path directoryOf(TenantName tenant) {
    return tenant.equals(TenantName.DEFAULT)
        ? directory
        : directory.resolveSibling(directory.getFileName() + "-tenants").resolve(tenant.value());
  }

  /** A list with commas, with or without the brackets and quotes that some write around it. */
  public AgentSettings withHosts(String list) {
    return new AgentSettings(
        directory,
        Arrays.stream(list.replaceAll("[\\[\\]\"']", "").split(",", -1))
            .map(String::strip)
            .filter(host -> !host.isEmpty())
            .toList());
  }

  /** Whether an agent may be called so. */
  public boolean knows(String host) {
    return hosts.isEmpty() || hosts.contains(host);
  }
}
