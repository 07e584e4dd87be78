package dev.holdfast.server;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.http.Proxies;
import dev.holdfast.server.http.Tls;
import dev.holdfast.server.notify.Receivers;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * The configuration of a node. Wrong settings are refused here, by name, before anything starts.
 *
 * @param data the directory that contains the first token
 * @param executors the executors that the node runs itself
 * @param agents the directory that is shared with remote agents, and their names
 * @param upkeep whether the node ends the attempts of silent workers; off only where something else
 *     does, like a test that moves the clock
 */
public record ServerConfig(
    Path data,
    Set<ServerRole> roles,
    Address address,
    Trust trust,
    ExecutorSettings executors,
    RequestLimits limits,
    AgentSettings agents,
    boolean upkeep) {

  public ServerConfig {
    if (roles.isEmpty()) {
      throw HoldfastException.badConfig("roles", "none", "web, scheduler, worker");
    }
    if (!trust.auth() && !address.isLoopback()) {
      throw HoldfastException.badConfig(
          "auth", "off", "only with a host that this machine alone can reach, like 127.0.0.1");
    }
    roles = Set.copyOf(roles);
  }

  public static ServerConfig defaults(Path data) {
    return new ServerConfig(
        data,
        EnumSet.allOf(ServerRole.class),
        Address.DEFAULT,
        Trust.DEFAULT,
        ExecutorSettings.NONE,
        RequestLimits.DEFAULTS,
        AgentSettings.defaults(data),
        true);
  }

  public ServerConfig withRoles(Set<ServerRole> roles) {
    return new ServerConfig(data, roles, address, trust, executors, limits, agents, upkeep);
  }

  public ServerConfig withAddress(String host, int port) {
    return with(new Address(host, port, address.tls()));
  }

  public ServerConfig withTls(Tls tls) {
    return with(new Address(address.host(), address.port(), Optional.of(tls)));
  }

  public ServerConfig withAuth(boolean auth) {
    return with(new Trust(auth, trust.names(), trust.proxies(), trust.receivers()));
  }

  public ServerConfig withNames(Set<String> names) {
    return with(new Trust(trust.auth(), names, trust.proxies(), trust.receivers()));
  }

  public ServerConfig withProxies(Proxies proxies) {
    return with(new Trust(trust.auth(), trust.names(), proxies, trust.receivers()));
  }

  public ServerConfig withReceivers(Receivers receivers) {
    return with(new Trust(trust.auth(), trust.names(), trust.proxies(), receivers));
  }

  public ServerConfig withExecutors(ExecutorSettings executors) {
    return new ServerConfig(data, roles, address, trust, executors, limits, agents, upkeep);
  }

  public ServerConfig withLimits(RequestLimits limits) {
    return new ServerConfig(data, roles, address, trust, executors, limits, agents, upkeep);
  }

  public ServerConfig withAgents(AgentSettings agents) {
    return new ServerConfig(data, roles, address, trust, executors, limits, agents, upkeep);
  }

  public ServerConfig withUpkeep(boolean upkeep) {
    return new ServerConfig(data, roles, address, trust, executors, limits, agents, upkeep);
  }

  private ServerConfig with(Address address) {
    return new ServerConfig(data, roles, address, trust, executors, limits, agents, upkeep);
  }

  private ServerConfig with(Trust trust) {
    return new ServerConfig(data, roles, address, trust, executors, limits, agents, upkeep);
  }
}
