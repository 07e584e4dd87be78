package dev.holdfast.executor;

import com.github.dockerjava.api.exception.ConflictException;
import com.github.dockerjava.api.exception.NotFoundException;
import com.github.dockerjava.api.model.Bind;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Outcome;
import dev.holdfast.worker.JobContext;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Runs containers of allowed images, which end with the lease. Thread-safe. */
final class ContainerExecutor implements KindExecutor {

  static final String NAME = "container";

  private static final Duration OUTPUT_PATIENCE = Duration.ofSeconds(5);
  private static final int RESULT_CHARS = 10 * 1024;
  private static final int MESSAGE_CHARS = Limits.ERROR_MESSAGE_CHARS - 200;

  private final LeaseWatch watch;
  private final ContainerEngine engine;
  private final ExecutorConfig config;
  private final AllowedImages images;
  private final AllowedMounts mounts;
  private final Secrets secrets;
  private final ContainerListener listener;
  private final Leftovers leftovers = new Leftovers();

  private ContainerExecutor(
      LeaseWatch watch, ContainerEngine engine, ExecutorConfig config, ContainerListener listener) {
    this.watch = watch;
    this.engine = engine;
    this.config = config;
    this.images = new AllowedImages(config.containers().images());
    this.mounts = new AllowedMounts(config.containers().mounts());
    this.secrets = new Secrets(config.secrets());
    this.listener = listener;
  }

  /**
   * Refuses machines that lack what it needs; removes containers that dead processes left behind.
   */
  static ContainerExecutor on(LeaseWatch watch, ExecutorConfig config, ContainerListener listener) {
    String path = Optional.ofNullable(System.getenv("PATH")).orElse(Programs.USUAL_PATH);
    if (Programs.find("curl", path, Path.of("").toAbsolutePath()).isEmpty()) {
      throw HoldfastException.badConfig(
          "executors", NAME, "only where there is curl, for the watchdog to end containers with");
    }
    ContainerEngine engine = new ContainerEngine(config.containers().socket());
    ContainerExecutor executor = new ContainerExecutor(watch, engine, config, listener);
    try {
      engine.ping();
      executor.leftovers.remove(engine);
    } catch (RuntimeException e) {
      engine.close();
      throw HoldfastException.badConfig(
          "executors.container-socket",
          config.containers().socket(),
          "the socket of Docker or Podman that answers (" + e.getMessage() + ")");
    }
    return executor;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Outcome run(@Nullable Object args, Runbook book, JobContext job)
      throws InterruptedException {
    ContainerArgs asked;
    Map<String, String> named;
    List<Bind> binds = new ArrayList<>();
    try {
      asked = ContainerArgs.read(args);
      named = secrets.named(asked.secrets(), asked.env());
    } catch (HoldfastException e) {
      return permanent(e.code().name(), String.valueOf(e.getMessage()));
    }
    if (!images.allow(asked.image())) {
      return permanent("IMAGE_NOT_ALLOWED", "No containers of " + asked.image() + " here");
    }
    for (ContainerArgs.Volume volume : asked.volumes()) {
      Optional<Path> place = mounts.find(volume.host(), volume.readOnly());
      if (place.isEmpty()) {
        return permanent("MOUNT_NOT_ALLOWED", "No containers with " + volume.host() + " here");
      }
      binds.add(ContainerEngine.bind(place.get(), volume.container(), volume.readOnly()));
    }
    Optional<Outcome> tooShort = watch.refusal(job, LeaseWatch.Ending.CONTAINER);
    if (tooShort.isPresent()) {
      return tooShort.get();
    }
    Map<String, String> env = new LinkedHashMap<>(asked.env());
    env.putAll(named);
    env.putAll(Command.ofJob(job));
    return run(asked, env, binds, secrets.toHide(named), job);
  }

  private Outcome run(
      ContainerArgs asked,
      Map<String, String> env,
      List<Bind> binds,
      List<String> hidden,
      JobContext job)
      throws InterruptedException {
    try {
      Optional<Outcome> noImage = fetch(asked);
      return noImage.isPresent() ? noImage.get() : start(asked, env, binds, hidden, job);
    } catch (NameTaken e) {
      return Outcome.failed(
          Failure.retryable("CONTAINER_NAME_TAKEN", "Another container is called " + e.name));
    } catch (IOException | RuntimeException e) {
      if (Thread.interrupted()) { // an interrupt makes calls to the engine fail
        throw new InterruptedException("while the container was being started");
      }
      String why = SecretMask.mask(hidden, String.valueOf(e.getMessage()));
      return Outcome.failed(Failure.retryable("CONTAINER_FAILED", why));
    }
  }

  private Optional<Outcome> fetch(ContainerArgs asked) throws InterruptedException {
    boolean isThere = asked.pull() != ContainerArgs.Pull.ALWAYS && engine.hasImage(asked.image());
    if (isThere) {
      return Optional.empty();
    }
    if (asked.pull() == ContainerArgs.Pull.NEVER) {
      return Optional.of(permanent("IMAGE_NOT_FOUND", "No image " + asked.image() + " here"));
    }
    try {
      engine.pull(asked.image());
      return Optional.empty();
    } catch (RuntimeException e) {
      return Optional.of(
          Outcome.failed(
              Failure.retryable(
                  "IMAGE_PULL_FAILED", asked.image() + " cannot be pulled: " + e.getMessage())));
    }
  }

  private Outcome start(
      ContainerArgs asked,
      Map<String, String> env,
      List<Bind> binds,
      List<String> hidden,
      JobContext job)
      throws InterruptedException, IOException, NameTaken {
    String name = asked.name().orElse("holdfast-" + job.jobId() + "-" + job.fence());
    String id = create(asked, name, env, binds, job);
    if (Thread.interrupted()) {
      engine.remove(id);
      throw new InterruptedException("before the container was started");
    }
    try (WatchedContainer container =
        WatchedContainer.start(
            id, engine, watch.watchdog(), watch.deadline(job, LeaseWatch.Ending.CONTAINER))) {
      listener.started(job, id, name);
      CommandOutput output =
          CommandOutput.read(
              container.output(),
              new SecretMask(hidden),
              new LogLines(job, config.maxOutputChars()));
      WatchedContainer.Exit exit;
      try {
        exit = container.await(watch.grace());
      } finally {
        if (container.isOver()) {
          output.await(OUTPUT_PATIENCE); // keeps what it writes while being stopped
        }
        container.close();
        output.await(OUTPUT_PATIENCE); // the output ends now
      }
      return outcome(exit, output, id, name, job);
    }
  }

  /** A container that is not ours to remove has the name. */
  private static final class NameTaken extends Exception {
    final String name;

    NameTaken(String name) {
      super(name, null, false, false);
      this.name = name;
    }
  }

  private String create(
      ContainerArgs asked, String name, Map<String, String> env, List<Bind> binds, JobContext job)
      throws NameTaken, InterruptedException {
    Map<String, String> labels = new LinkedHashMap<>(asked.labels());
    labels.putAll(leftovers.labels(job));
    String network = asked.network().orElse(config.containers().network());
    try {
      return engine.create(asked, name, env, labels, binds, network);
    } catch (RuntimeException e) {
      if (!isNameTaken(e)) {
        throw e;
      }
      boolean mayGo = engine.find(name).map(other -> leftovers.isLeftover(other, job)).orElse(true);
      if (!mayGo) {
        throw new NameTaken(name);
      }
      engine.remove(name);
      return engine.create(asked, name, env, labels, binds, network);
    }
  }

  private static boolean isNameTaken(RuntimeException e) {
    return !(e instanceof NotFoundException)
        && (e instanceof ConflictException
            || String.valueOf(e.getMessage()).contains("already in use"));
  }

  private static Outcome outcome(
      WatchedContainer.Exit exit, CommandOutput output, String id, String name, JobContext job) {
    int code = exit.code();
    if (code == 0) {
      return Outcome.succeeded(
          job.payload(
              Map.of(
                  "exit_code",
                  code,
                  "output",
                  output.last(RESULT_CHARS),
                  "container_id",
                  id,
                  "container_name",
                  name)));
    }
    if (exit.outOfMemory()) {
      return failed("OUT_OF_MEMORY", "It used more memory than it may", output);
    }
    BadExit bad = new BadExit(code);
    return failed(bad.errorCode(), bad.message(), output);
  }

  private static Outcome failed(String code, String what, CommandOutput output) {
    String last = output.last(MESSAGE_CHARS).strip();
    return Outcome.failed(Failure.retryable(code, last.isEmpty() ? what : what + ": " + last));
  }

  private static Outcome permanent(String code, String message) {
    return Outcome.failed(Failure.permanent(code, message));
  }

  @Override
  public void endLeft(UUID jobId, long fence) {
    leftovers.remove(engine, jobId, fence);
  }

  @Override
  public void close() {
    engine.close();
  }
}
