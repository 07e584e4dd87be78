package dev.holdfast.server;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.TenantName;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What remote agents and the server share.
 *
 * @param directory the shared directory, at the same path on all machines
 * @param hosts the names that agents may have; empty allows any
 */
public record AgentSettings(Path directory, List<String> hosts) {

  /** The form of a host's name, in words. */
  public static final String HOSTS = "1 to 128 of letters, digits and _ . : @ + -";

  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.:@+-]{0,127}");

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

  /** Whether the text can be a host's name, which becomes part of file names. */
  public static boolean isHost(String name) {
    return HOST.matcher(name).matches();
  }

  static AgentSettings defaults(Path data) {
    return new AgentSettings(data.resolve("shared"), List.of());
  }

  public AgentSettings withDirectory(Path directory) {
    return new AgentSettings(directory, hosts);
  }

  /**
   * The directory of a tenant: for the default tenant the shared directory itself, for others one
   * beside it, not inside.
   */
  public Path directoryOf(TenantName tenant) {
    return tenant.equals(TenantName.DEFAULT)
        ? directory
        : directoryOfOthers().resolve(tenant.value());
  }

  /** The directory of all tenants but the default one. */
  public Path directoryOfOthers() {
    return directory.resolveSibling(directory.getFileName() + "-tenants");
  }

  /** Whether there are files of any tenant. */
  boolean hasFiles() {
    return Files.exists(directory) || Files.exists(directoryOfOthers());
  }

  /** Accepts a list with commas, with or without the brackets and quotes of some notations. */
  public AgentSettings withHosts(String list) {
    return new AgentSettings(
        directory,
        Arrays.stream(list.replaceAll("[\\[\\]\"']", "").split(",", -1))
            .map(String::strip)
            .filter(host -> !host.isEmpty())
            .toList());
  }

  /** Whether an agent may have this name. */
  public boolean knows(String host) {
    return hosts.isEmpty() || hosts.contains(host);
  }
}
