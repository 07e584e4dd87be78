package dev.holdfast.cli;

import dev.holdfast.executor.ContainerConfig;
import dev.holdfast.executor.ExecutorConfig;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Options for what executors may do, the same for servers and agents. */
final class Permissions {

  @Option(
      names = "--http-hosts",
      defaultValue = "${env:HOLDFAST_HTTP_HOSTS:-}",
      description = "Hosts that http jobs may call, like api.example.org or *.example.org.",
      paramLabel = "HOST,…")
  private String httpHosts = "";

  @Option(
      names = "--run-as",
      defaultValue = "${env:HOLDFAST_RUN_AS:-}",
      description = "Users as whom process jobs may run, where this runs as root.",
      paramLabel = "USER,…")
  private String users = "";

  @Option(
      names = "--playbooks",
      defaultValue = "${env:HOLDFAST_PLAYBOOKS:-}",
      description = "The directory of playbooks, for ansible.",
      paramLabel = "DIR")
  private String playbooks = "";

  @Option(
      names = "--container-socket",
      defaultValue = "${env:HOLDFAST_CONTAINER_SOCKET:-/var/run/docker.sock}",
      description = "Of Docker or Podman.",
      paramLabel = "FILE")
  private Path socket = Path.of("");

  @Option(
      names = "--images",
      defaultValue = "${env:HOLDFAST_IMAGES:-}",
      description = "Images that containers may be of, like busybox:1.36 or example.org/team/*.",
      paramLabel = "IMAGE,…")
  private String images = "";

  @Option(
      names = "--mounts",
      defaultValue = "${env:HOLDFAST_MOUNTS:-}",
      description = "Directories that containers may be given; with :ro, to be read alone.",
      paramLabel = "DIR,…")
  private String mounts = "";

  @Option(
      names = "--container-network",
      defaultValue = "${env:HOLDFAST_CONTAINER_NETWORK:-bridge}",
      description = "Of containers that do not say: bridge or none.")
  private String network = "";

  /**
   * The options as a configuration, with the secrets of the environment.
   *
   * @param scratch the directory for files that exist as long as an attempt
   */
  ExecutorConfig config(Path scratch) {
    ExecutorConfig config =
        ExecutorConfig.DEFAULTS
            .withSecretsOf(System.getenv())
            .withAllowedHosts(Lists.set(httpHosts))
            .withUsers(Lists.set(users))
            .withScratch(scratch)
            .withContainers(
                ContainerConfig.DEFAULTS
                    .withSocket(socket)
                    .withImages(Lists.set(images))
                    .withMounts(Lists.list(mounts))
                    .withNetwork(network));
    return playbooks.isBlank() ? config : config.withPlaybooks(Path.of(playbooks));
  }
}
