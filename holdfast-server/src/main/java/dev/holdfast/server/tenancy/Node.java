package dev.holdfast.server.tenancy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.NodeAddress;
import dev.holdfast.job.Limits;
import java.util.Optional;

/**
 * A machine on which jobs of node-targeted kinds run.
 *
 * @param connection how it is reached, if not by SSH
 */
public record Node(
    String id,
    String host,
    Optional<Integer> port,
    Optional<String> user,
    Optional<String> keyFile,
    Optional<String> connection) {

  public Node {
    Limits.name("id", id);
    Limits.name("host", host);
    if (host.startsWith("-")) {
      throw HoldfastException.invalid("host", host, "a host, not an option of a command");
    }
    port.ifPresent(number -> {
      if (number < 1 || number > 65_535) {
        throw HoldfastException.invalid("port", number, "1 to 65535");
      }
    });
    user.ifPresent(name -> Limits.name("user", name));
    keyFile.ifPresent(path -> Limits.name("key_file", path));
    connection.ifPresent(name -> Limits.name("connection", name));
  }

  /** The node in the form that executors use. */
  public NodeAddress address() {
    return new NodeAddress(id, host, port, user, keyFile, connection);
  }
}
