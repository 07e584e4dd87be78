package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * The container engine, and which containers it may run.
 *
 * @param socket the socket of Docker or Podman. Defaults to Docker's own.
 * @param images the images that may be run: {@code busybox:1.36}, or {@code
 *     registry.example.org/team/*} for all that begin like that; {@code *} is any. Defaults to
 *     none.
 * @param mounts directories of this machine that containers may mount, or paths below them; with
 *     {@code :ro} at the end, read-only. Defaults to none.
 * @param network the network of containers that name none: {@code bridge}, the engine's own, or
 *     {@code none}. Defaults to {@code bridge}.
 */
public record ContainerConfig(
    Path socket, Set<String> images, List<String> mounts, String network) {

  static final Set<String> NETWORKS = Set.of("bridge", "none");

  public static final ContainerConfig DEFAULTS =
      new ContainerConfig(Path.of("/var/run/docker.sock"), Set.of(), List.of(), "bridge");

  public ContainerConfig {
    images = Set.copyOf(images);
    mounts = List.copyOf(mounts);
    if (!NETWORKS.contains(network)) {
      throw HoldfastException.badConfig("executors.container-network", network, "bridge, none");
    }
  }

  public ContainerConfig withSocket(Path socket) {
    return new ContainerConfig(socket, images, mounts, network);
  }

  public ContainerConfig withImages(Set<String> images) {
    return new ContainerConfig(socket, images, mounts, network);
  }

  public ContainerConfig withMounts(List<String> mounts) {
    return new ContainerConfig(socket, images, mounts, network);
  }

  public ContainerConfig withNetwork(String network) {
    return new ContainerConfig(socket, images, mounts, network);
  }
}
