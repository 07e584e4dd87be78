package dev.holdfast.database;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Three PostgreSQL nodes that Patroni looks after, with an etcd that knows who leads: all on
 * loopback, in one directory, and ended when this is closed. Needs Debian's packages. Root runs
 * them as {@code postgres}, because they refuse to be run by root.
 */
final class PatroniCluster implements AutoCloseable {

  private static final Path PROGRAMS =
      Path.of(System.getProperty("holdfast.patroni.programs", "/usr/lib/postgresql/15"), "bin");
  private static final int NODES = 3;
  private static final Duration PATIENCE = Duration.ofMinutes(4);
  private static final Duration PAUSE = Duration.ofMillis(200);
  private static final boolean IS_ROOT = "root".equals(System.getProperty("user.name"));

  private record Node(String name, int rest, int port, Path home, Process patroni) {}

  private record Member(String name, String role, String state) {}

  private final HttpClient http = HttpClient.newHttpClient();
  private final JsonMapper json = new JsonMapper();
  private final List<Node> nodes = new ArrayList<>();
  private final List<ProcessHandle> orphans = new ArrayList<>();
  private final Process etcd;

  PatroniCluster(Path directory) throws IOException {
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    int clients = freePort();
    String peers = "http://127.0.0.1:" + freePort();
    String address = "http://127.0.0.1:" + clients;
    etcd =
        start(
            home(directory, "etcd"),
            List.of(
                "etcd",
                "--data-dir=" + directory.resolve("etcd/data"),
                "--listen-client-urls=" + address,
                "--advertise-client-urls=" + address,
                "--listen-peer-urls=" + peers,
                "--initial-advertise-peer-urls=" + peers,
                "--initial-cluster=default=" + peers));
    Runtime.getRuntime().addShutdownHook(new Thread(this::close)); // whatever becomes of the test
    for (int i = 1; i <= NODES; i++) {
      String name = "node" + i;
      Path home = home(directory, name);
      int rest = freePort();
      int port = freePort();
      Path settings = home.resolve("patroni.yml");
      Files.writeString(settings, settings(name, rest, clients, port, directory));
      Process patroni = start(home, List.of("patroni", settings.toString()));
      nodes.add(new Node(name, rest, port, home, patroni));
    }
    awaitHealth();
  }

  private static String settings(String name, int rest, int etcd, int port, Path directory) {
    return """
    scope: holdfast
    name: %1$s
    restapi:
      listen: 127.0.0.1:%2$d
      connect_address: 127.0.0.1:%2$d
    etcd3:
      host: 127.0.0.1:%3$d
    bootstrap:
      dcs:
        ttl: 20
        loop_wait: 2
        retry_timeout: 5
        primary_start_timeout: 0
        synchronous_mode: true
        postgresql:
          use_pg_rewind: true
          parameters:
            max_connections: 100
            shared_buffers: 64MB
            wal_keep_size: 1GB
      initdb:
        - encoding: UTF8
        - data-checksums
      pg_hba:
        - host all all 127.0.0.1/32 trust
        - host replication all 127.0.0.1/32 trust
    postgresql:
      listen: 127.0.0.1:%4$d
      connect_address: 127.0.0.1:%4$d
      data_dir: %5$s/%1$s/data
      bin_dir: %6$s
      pgpass: %5$s/%1$s/pgpass
      parameters:
        unix_socket_directories: ''
      authentication:
        superuser:
          username: postgres
          password: unused
        replication:
          username: postgres
          password: unused
    """
        .formatted(name, rest, etcd, port, directory, PROGRAMS);
  }

  private static Path home(Path directory, String name) throws IOException {
    Path home = Files.createDirectory(directory.resolve(name));
    if (IS_ROOT) {
      Files.setOwner(
          home,
          home.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("postgres"));
    }
    return home;
  }

  private static Process start(Path home, List<String> command) throws IOException {
    List<String> all = new ArrayList<>();
    if (IS_ROOT) {
      all.addAll(List.of("runuser", "-u", "postgres", "--")); // becomes it: the same process
    }
    all.addAll(command);
    return new ProcessBuilder(all)
        .directory(home.toFile())
        .redirectErrorStream(true)
        .redirectOutput(home.resolve("log").toFile())
        .start();
  }

  String jdbcUrl() {
    return nodes.stream()
        .map(node -> "127.0.0.1:" + node.port)
        .collect(Collectors.joining(",", "jdbc:postgresql://", "/postgres?user=postgres"));
  }

  /** Everybody is there, and somebody has all that is acknowledged beside the leader. */
  void awaitHealth() {
    long began = System.nanoTime();
    while (!isHealthy()) {
      if (System.nanoTime() - began > PATIENCE.toNanos()) {
        throw new AssertionError("the cluster does not come up: " + members());
      }
      Waiting.until(System.nanoTime(), PAUSE);
    }
  }

  private boolean isHealthy() {
    List<Member> all = members();
    return all.size() == NODES
        && find(all, "leader").isPresent()
        && find(all, "sync_standby").isPresent()
        && all.stream()
            .allMatch(each -> each.state.equals("running") || each.state.equals("streaming"));
  }

  /** The leader's place goes to the one that has everything, in good order. */
  void switchOver() throws IOException, InterruptedException {
    List<Member> all = members();
    String leader = find(all, "leader").orElseThrow().name;
    String body =
        "{\"leader\": \"%s\", \"candidate\": \"%s\"}"
            .formatted(leader, find(all, "sync_standby").orElseThrow().name);
    var answer =
        http.send(
            HttpRequest.newBuilder(rest(node(leader), "/switchover"))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build(),
            BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      throw new AssertionError("no switch-over: " + answer.body());
    }
  }

  /** The leader's first process, with the signal that nobody can catch. */
  void killLeader() throws IOException {
    Node leader = node(find(members(), "leader").orElseThrow().name);
    ProcessHandle postmaster = postmaster(leader).orElseThrow();
    orphans.addAll(postmaster.descendants().toList());
    postmaster.destroyForcibly();
  }

  /**
   * Ends what a killed leader left behind. Most of its processes end by themselves; one that waits
   * for another that is gone does not, and while it is there the node cannot start again.
   */
  void clearAway() {
    orphans.forEach(ProcessHandle::destroyForcibly);
    orphans.clear();
  }

  private static Optional<ProcessHandle> postmaster(Node node) throws IOException {
    Path file = node.home.resolve("data/postmaster.pid");
    return Files.exists(file)
        ? ProcessHandle.of(Long.parseLong(Files.readAllLines(file).getFirst().strip()))
        : Optional.empty();
  }

  private static Optional<Member> find(List<Member> all, String role) {
    return all.stream().filter(each -> each.role.equals(role)).findFirst();
  }

  private Node node(String name) {
    return nodes.stream().filter(each -> each.name.equals(name)).findFirst().orElseThrow();
  }

  /** As the first node that answers sees them; nobody while none does. */
  private List<Member> members() {
    for (Node node : nodes) {
      try {
        JsonNode cluster =
            json.readTree(
                http.send(
                        HttpRequest.newBuilder(rest(node, "/cluster"))
                            .timeout(Duration.ofSeconds(5))
                            .build(),
                        BodyHandlers.ofString())
                    .body());
        return StreamSupport.stream(cluster.path("members").spliterator(), false)
            .map(each ->
                new Member(
                    each.path("name").asString(""),
                    each.path("role").asString(""),
                    each.path("state").asString("")))
            .toList();
      } catch (IOException e) {
        // Not yet, or not now: the next one may know.
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
    return List.of();
  }

  private static URI rest(Node node, String path) {
    return URI.create("http://127.0.0.1:" + node.rest + path);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** By their numbers, and nobody else. */
  @Override
  public void close() {
    clearAway();
    nodes.forEach(node -> node.patroni.destroy());
    for (Node node : nodes) {
      end(node.patroni); // which ends its PostgreSQL first
      try {
        postmaster(node).ifPresent(ProcessHandle::destroyForcibly);
      } catch (IOException e) {
        System.err.println("Could not end the database of " + node.name + ": " + e);
      }
    }
    etcd.destroy();
    end(etcd);
  }

  private static void end(Process process) {
    try {
      if (!process.waitFor(30, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
