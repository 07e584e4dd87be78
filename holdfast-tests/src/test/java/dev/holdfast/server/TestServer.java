package dev.holdfast.server;

import dev.holdfast.Holdfast;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.auth.Tokens;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;

/** A node on the tests' database, and tokens for it. */
public final class TestServer implements AutoCloseable {

  private final HoldfastServer server;
  private final ServerConfig config;
  private final Tenants tenants;
  private final Tokens tokens;

  private TestServer(ServerConfig config, DataSource dataSource, Tenants tenants) {
    this.config = config;
    this.tenants = tenants;
    this.tokens = new Tokens(tenants.control());
    server = HoldfastServer.start(config, dataSource, Map.of());
  }

  /** Another one with it shares the directory of agents. */
  ServerConfig ownConfig() {
    return config;
  }

  public static ServerConfig config() {
    try {
      Path servers = Files.createDirectories(Path.of("target", "servers").toAbsolutePath());
      return ServerConfig.defaults(Files.createTempDirectory(servers, ""))
          .withAddress("127.0.0.1", 0)
          .withRoles(Set.of(ServerRole.WEB))
          .withUpkeep(false); // other tests' tenants are not for it to look after
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static TestServer start() {
    return start(config());
  }

  public static TestServer start(ServerConfig config) {
    TestDatabase tests = TestDatabase.shared();
    return new TestServer(config, tests.dataSource(), tests.holdfast().tenants());
  }

  /** On another database than the tests'. */
  static TestServer start(ServerConfig config, DataSource dataSource) {
    return new TestServer(config, dataSource, Holdfast.on(dataSource).tenants());
  }

  Tenants tenants() {
    return tenants;
  }

  private static final class Shared {
    static final TestServer INSTANCE = start();
  }

  /** One for all tests that do not stop it. */
  public static TestServer shared() {
    return Shared.INSTANCE;
  }

  private static final class Open {
    static final TestServer INSTANCE = start(config().withAuth(false));
  }

  /** One that asks nobody who they are, for all tests that do not stop it. */
  static TestServer open() {
    return Open.INSTANCE;
  }

  /** Where clients that send no header find a tenant. */
  String addressOf(TenantName tenant) {
    return "http://127.0.0.1:%d/t/%s".formatted(port(), tenant.value());
  }

  HoldfastServer server() {
    return server;
  }

  /** As a client finds it. */
  public HoldfastClient client(Role role, TenantName tenant) {
    return client(role, tenant, "http://127.0.0.1:" + port());
  }

  /** By way of another address. */
  public HoldfastClient client(Role role, TenantName tenant, String url) {
    return HoldfastClient.at(url).withToken(token(role, Optional.of(tenant))).withTenant(tenant);
  }

  /** Until so many wait for work of a tenant. */
  static void awaitWaiting(TenantName tenant, int count) {
    while (shared().server.waiting(tenant) < count) {
      Thread.onSpinWait();
    }
  }

  public int port() {
    return server.port().orElseThrow();
  }

  static String tokenIn(Path directory) throws IOException {
    return Files.readString(directory.resolve("admin.token")).strip();
  }

  public String token(Role role, Optional<TenantName> tenant) {
    String token = tokens.draw();
    tokens.put(
        token,
        "the " + role.stored(),
        role,
        role == Role.SYSTEM ? Optional.empty() : tenant,
        Optional.empty());
    return token;
  }

  /** Somebody with this role in this tenant. */
  Caller as(Role role, TenantName tenant) {
    return new Caller(port(), Optional.of(token(role, Optional.of(tenant))), Optional.of(tenant));
  }

  @Override
  public void close() {
    server.close();
  }
}
