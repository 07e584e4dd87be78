package dev.holdfast.server;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.http.Proxies;
import dev.holdfast.server.http.Tls;
import dev.holdfast.server.notify.Receivers;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * How a node is to be run. Wrong settings are refused here, by their names, before anything starts.
 *
 * @param data where the first token is kept
 * @param auth off only on an address that this machine alone can reach
 * @param names that the server answers to, beside its own on a machine's own address; none is any
 * @param receivers where webhooks may lead
 * @param executors what it runs itself
 * @param upkeep looks after silent workers' jobs; off only where something else does, like a test
 *     that moves the clock
 * @param agents the directory that is shared with remote agents, and their names
 * @param proxies whose word about where a request came from is taken
 */
public record ServerConfig(
    String host,
    int port,
    Path data,
    boolean auth,
    Set<ServerRole> roles,
    Optional<Tls> tls,
    Set<String> names,
    Proxies proxies,
    Receivers receivers,
    boolean upkeep,
    ExecutorSettings executors,
    RequestLimits limits,
    AgentSettings agents) {

  public ServerConfig {
    if (port < 0 || port > 65_535) {
      throw HoldfastException.badConfig("port", port, "0 to 65535");
    }
    if (roles.isEmpty()) {
      throw HoldfastException.badConfig("roles", "none", "web, scheduler, worker");
    }
    if (!auth && !isLoopback(host)) {
      throw HoldfastException.badConfig(
          "auth", "off", "only with a host that this machine alone can reach, like 127.0.0.1");
    }
    roles = Set.copyOf(roles);
    names = Set.copyOf(names);
  }

  public static ServerConfig defaults(Path data) {
    return new ServerConfig(
        "127.0.0.1",
        8080,
        data,
        true,
        EnumSet.allOf(ServerRole.class),
        Optional.empty(),
        Set.of(),
        new Proxies(Set.of()),
        new Receivers(Set.of()),
        true,
        ExecutorSettings.NONE,
        RequestLimits.DEFAULTS,
        AgentSettings.defaults(data));
  }

  public ServerConfig withAddress(String host, int port) {
    return new ServerConfig(
        host, port, data, auth, roles, tls, names, proxies, receivers, upkeep, executors, limits,
        agents);
  }

  public ServerConfig withAuth(boolean auth) {
    return new ServerConfig(
        host, port, data, auth, roles, tls, names, proxies, receivers, upkeep, executors, limits,
        agents);
  }

  public ServerConfig withRoles(Set<ServerRole> roles) {
    return new ServerConfig(
        host, port, data, auth, roles, tls, names, proxies, receivers, upkeep, executors, limits,
        agents);
  }

  public ServerConfig withTls(Tls tls) {
    return new ServerConfig(
        host,
        port,
        data,
        auth,
        roles,
        Optional.of(tls),
        names,
        proxies,
        receivers,
        upkeep,
        executors,
        limits,
        agents);
  }

  public ServerConfig withNames(Set<String> names) {
    return new ServerConfig(
        host, port, data, auth, roles, tls, names, proxies, receivers, upkeep, executors, limits,
        agents);
  }

  public ServerConfig withProxies(Proxies proxies) {
    return new ServerConfig(
        host, port, data, auth, roles, tls, names, proxies, receivers, upkeep, executors, limits,
        agents);
  }

  public ServerConfig withReceivers(Receivers receivers) {
    return new ServerConfig(
        host, port, data, auth, roles, tls, names, proxies, receivers, upkeep, executors, limits,
        agents);
  }

  public ServerConfig withUpkeep(boolean upkeep) {
    return new ServerConfig(
        host, port, data, auth, roles, tls, names, proxies, receivers, upkeep, executors, limits,
        agents);
  }

  public ServerConfig withExecutors(ExecutorSettings executors) {
    return new ServerConfig(
        host, port, data, auth, roles, tls, names, proxies, receivers, upkeep, executors, limits,
        agents);
  }

  public ServerConfig withLimits(RequestLimits limits) {
    return new ServerConfig(
        host, port, data, auth, roles, tls, names, proxies, receivers, upkeep, executors, limits,
        agents);
  }

  public ServerConfig withAgents(AgentSettings agents) {
    return new ServerConfig(
        host, port, data, auth, roles, tls, names, proxies, receivers, upkeep, executors, limits,
        agents);
  }

  public boolean isLoopback() {
    return isLoopback(host);
  }

  private static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      throw HoldfastException.badConfig("host", host, "an address of this machine");
    }
  }
}
