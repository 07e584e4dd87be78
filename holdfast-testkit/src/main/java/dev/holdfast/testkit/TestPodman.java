package dev.holdfast.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A Podman with storage of its own, and one image: a BusyBox, made here, so that nothing is pulled.
 * It ends with the process. Needs root, and the programs podman, runc, busybox and curl.
 */
public final class TestPodman {

  /** The image. */
  public static final String IMAGE = "localhost/holdfast-busybox:test";

  // Podman needs these where the kernel has both versions of control groups.
  private static final String CONFIGURATION =
      """
      [containers]
      default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
      [engine]
      runtime = "runc"
      cgroup_manager = "cgroupfs"
      events_logger = "file"
      """;

  private static final List<String> APPLETS =
      List.of("sh", "sleep", "echo", "cat", "ls", "env", "id", "touch", "mkdir", "date", "seq");

  private final Path directory;
  private final Process service;

  private TestPodman() {
    try {
      this.directory = Files.createTempDirectory("holdfast-podman");
      Files.writeString(directory.resolve("containers.conf"), CONFIGURATION);
      makeImage();
      this.service = startService();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Runtime.getRuntime().addShutdownHook(new Thread(this::end));
  }

  private static final class Shared {
    static final TestPodman INSTANCE = new TestPodman();
  }

  /** One Podman for all tests; skips the test where a program is missing. */
  public static TestPodman shared() {
    Tools.require("podman", "runc", "busybox", "curl");
    return Shared.INSTANCE;
  }

  public Path socket() {
    return directory.resolve("podman.sock");
  }

  /** The names of all containers, running or not. */
  public List<String> containers() {
    return output("ps", "--all", "--format", "{{.Names}}").lines().toList();
  }

  /** Runs podman with these arguments; returns what it printed. */
  public String output(String... arguments) {
    try {
      Process podman = command(List.of(arguments)).redirectErrorStream(true).start();
      String said = new String(podman.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (podman.waitFor() != 0) {
        throw new IllegalStateException("podman " + List.of(arguments) + ": " + said);
      }
      return said;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private ProcessBuilder command(List<String> arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                "podman",
                "--root",
                directory.resolve("storage").toString(),
                "--runroot",
                directory.resolve("run").toString(),
                "--storage-driver",
                "vfs"));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("CONTAINERS_CONF", directory.resolve("containers.conf").toString());
    return builder;
  }

  private void makeImage() throws IOException {
    Path root = Files.createDirectories(directory.resolve("image"));
    Path bin = Files.createDirectories(root.resolve("bin"));
    Files.createDirectories(root.resolve("tmp"));
    Path busybox =
        Stream.of("/bin/busybox", "/usr/bin/busybox")
            .map(Path::of)
            .filter(Files::isExecutable)
            .findFirst()
            .orElseThrow();
    Files.copy(busybox, bin.resolve("busybox"));
    for (String applet : APPLETS) {
      Files.createSymbolicLink(bin.resolve(applet), Path.of("busybox"));
    }
    Path archive = directory.resolve("image.tar");
    run(new ProcessBuilder("tar", "-C", root.toString(), "-cf", archive.toString(), "."));
    run(command(List.of("import", archive.toString(), IMAGE)));
  }

  private Process startService() throws IOException {
    Process started =
        command(List.of("system", "service", "--time=0", "unix://" + socket()))
            .redirectOutput(directory.resolve("service.log").toFile())
            .redirectErrorStream(true)
            .start();
    while (!Files.exists(socket())) {
      if (!started.isAlive()) {
        throw new IOException(Files.readString(directory.resolve("service.log")));
      }
      Thread.onSpinWait();
    }
    return started;
  }

  private static void run(ProcessBuilder builder) throws IOException {
    Process process = builder.redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (process.waitFor() != 0) {
        throw new IOException(builder.command() + ": " + said);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  private void end() {
    try {
      run(command(List.of("rm", "--all", "--force", "--time", "0")));
      service.destroy();
      boolean unused = service.waitFor(5, TimeUnit.SECONDS);
      run(new ProcessBuilder("rm", "-rf", directory.toString()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
