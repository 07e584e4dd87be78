package dev.holdfast.executor;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.async.ResultCallback;
import com.github.dockerjava.api.command.CreateContainerCmd;
import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.exception.NotFoundException;
import com.github.dockerjava.api.model.AccessMode;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.Container;
import com.github.dockerjava.api.model.Frame;
import com.github.dockerjava.api.model.HostConfig;
import com.github.dockerjava.api.model.PullResponseItem;
import com.github.dockerjava.api.model.ResponseItem;
import com.github.dockerjava.api.model.Volume;
import com.github.dockerjava.api.model.WaitResponse;
import com.github.dockerjava.core.DefaultDockerClientConfig;
import com.github.dockerjava.core.DockerClientImpl;
import com.github.dockerjava.zerodep.ZerodepDockerHttpClient;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Docker or Podman, through its socket. Short requests have a time limit; streams may be silent for
 * any time. Failures are {@link RuntimeException}s. Thread-safe.
 */
final class ContainerEngine implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(ContainerEngine.class);

  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration ANSWER = Duration.ofSeconds(20);
  private static final int MOST_STREAMS = 2_000;
  private static final long MEBI = 1024L * 1024;

  private final DockerClient questions;
  private final DockerClient streams;
  private volatile boolean isClosed;

  ContainerEngine(Path socket) {
    String host = "unix://" + socket.toAbsolutePath();
    this.questions = client(host, Optional.of(ANSWER));
    this.streams = client(host, Optional.empty());
  }

  private static DockerClient client(String host, Optional<Duration> limit) {
    ZerodepDockerHttpClient.Builder transport =
        new ZerodepDockerHttpClient.Builder()
            .dockerHost(URI.create(host))
            .maxConnections(MOST_STREAMS)
            .connectionTimeout(CONNECT);
    limit.ifPresent(transport::responseTimeout);
    return DockerClientImpl.getInstance(
        DefaultDockerClientConfig.createDefaultConfigBuilder()
            .withDockerHost(host)
            .withDockerTlsVerify(false)
            .build(),
        transport.build());
  }

  void ping() {
    questions.pingCmd().exec();
  }

  boolean hasImage(String image) {
    try {
      return questions.inspectImageCmd(image).exec() != null;
    } catch (NotFoundException e) {
      return false;
    }
  }

  void pull(String image) throws InterruptedException {
    // Without a tag, the engine would pull all tags.
    String last = image.substring(image.lastIndexOf('/') + 1);
    boolean isExact = last.indexOf(':') >= 0 || last.indexOf('@') >= 0;
    Pulled pulled = streams.pullImageCmd(isExact ? image : image + ":latest").exec(new Pulled());
    pulled.awaitCompletion(); // throws if the pull could not begin
    if (pulled.error != null) {
      throw new IllegalStateException(pulled.error);
    }
  }

  /** An engine that has begun to pull has answered 200, and tells in its items what went wrong. */
  private static final class Pulled extends ResultCallback.Adapter<PullResponseItem> {

    private volatile @Nullable String error;

    @Override
    @SuppressWarnings("deprecation") // older engines have only the error without its detail
    public void onNext(PullResponseItem item) {
      if (item.isErrorIndicated()) {
        error =
            Optional.ofNullable(item.getErrorDetail())
                .map(ResponseItem.ErrorDetail::getMessage)
                .orElseGet(() -> String.valueOf(item.getError()));
      }
    }
  }

  /**
   * Creates a container without extra privileges: not privileged, no namespace of the host, no
   * device, and no capability beyond the engine's defaults. An engine goes on creating when nobody
   * waits for its answer any more, so a container that comes too late is removed again.
   */
  String create(
      ContainerArgs args,
      String name,
      Map<String, String> env,
      Map<String, String> labels,
      List<Bind> binds,
      String network)
      throws InterruptedException {
    CompletableFuture<String> created =
        CompletableFuture.supplyAsync(
            () -> createNow(args, name, env, labels, binds, network), Thread::startVirtualThread);
    try {
      return created.get(ANSWER.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      removeOnceCreated(created, name);
      throw e;
    } catch (TimeoutException e) {
      removeOnceCreated(created, name);
      throw new IllegalStateException("No container was created within " + ANSWER, e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException failure
          ? failure
          : new IllegalStateException(e);
    }
  }

  /** At once, if it was created just when the waiting ended. */
  private void removeOnceCreated(CompletableFuture<String> created, String name) {
    created
        .thenAccept(id -> {
          log.info("Removing container {}, which was created too late", name);
          remove(id);
        })
        .exceptionally(e -> {
          log.warn("Container {} may be left, unstarted", name, e);
          return null;
        });
  }

  private String createNow(
      ContainerArgs args,
      String name,
      Map<String, String> env,
      Map<String, String> labels,
      List<Bind> binds,
      String network) {
    HostConfig host =
        HostConfig.newHostConfig()
            .withBinds(binds)
            .withNetworkMode(network)
            .withPrivileged(false)
            .withSecurityOpts(List.of("no-new-privileges"));
    args.memoryMb().ifPresent(mb -> host.withMemory(Math.round(mb * MEBI)));
    args.cpus().ifPresent(cpus -> host.withNanoCPUs(Math.round(cpus * 1e9)));
    args.pids().ifPresent(pids -> host.withPidsLimit(Math.round(pids)));
    try (CreateContainerCmd create = streams.createContainerCmd(args.image())) {
      create
          .withName(name)
          .withEnv(
              env.entrySet().stream().map(each -> each.getKey() + "=" + each.getValue()).toList())
          .withLabels(labels)
          .withHostConfig(host);
      if (!args.command().isEmpty()) {
        create.withCmd(args.command());
      }
      if (!args.entrypoint().isEmpty()) {
        create.withEntrypoint(args.entrypoint());
      }
      args.cwd().ifPresent(create::withWorkingDir);
      args.user().ifPresent(create::withUser);
      return create.exec().getId();
    }
  }

  static Bind bind(Path host, String container, boolean readOnly) {
    return new Bind(
        host.toString(), new Volume(container), readOnly ? AccessMode.ro : AccessMode.rw);
  }

  void start(String id) {
    questions.startContainerCmd(id).exec();
  }

  /** Streams the output until the container ends. The caller closes the callback. */
  void followLog(String id, ResultCallback<Frame> to) {
    streams.logContainerCmd(id).withStdOut(true).withStdErr(true).withFollowStream(true).exec(to);
  }

  void awaitEnd(String id, ResultCallback<WaitResponse> to) {
    streams.waitContainerCmd(id).exec(to);
  }

  /** The current state; empty when no container has this id or name. */
  Optional<InspectContainerResponse> find(String idOrName) {
    try {
      return Optional.of(questions.inspectContainerCmd(idOrName).exec());
    } catch (NotFoundException e) {
      return Optional.empty();
    }
  }

  List<Container> labelled(String label) {
    return questions.listContainersCmd().withShowAll(true).withLabelFilter(List.of(label)).exec();
  }

  /** Removes a container, and kills it if it still runs. Does nothing if it does not exist. */
  void remove(String id) {
    try {
      questions.removeContainerCmd(id).withForce(true).withRemoveVolumes(true).exec();
    } catch (NotFoundException e) {
      log.debug("Container {} was removed by somebody else", id);
    }
  }

  /** Whether it can be asked nothing any more. */
  boolean isClosed() {
    return isClosed;
  }

  @Override
  public void close() {
    isClosed = true;
    for (DockerClient client : List.of(streams, questions)) {
      try {
        client.close();
      } catch (IOException e) {
        log.debug("Closing the connection to the container engine failed", e);
      }
    }
  }
}
