package dev.holdfast.server.dialect.agents;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.files.SharedDirectory;
import dev.holdfast.fuzz.FuzzTarget;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

/** Names that become parts of files' names: they stay below their directory, and one word. */
public final class AgentPathsFuzz implements FuzzTarget {

  private static final Path ROOT = Path.of("/shared");
  private static final UUID JOB = new UUID(0, 1);

  public static void fuzzerTestOneInput(byte[] data) {
    FuzzTarget.run(new AgentPathsFuzz(), data);
  }

  @Override
  public List<String> seeds() {
    return List.of(
        "demo.yaml",
        "configs/team/demo.yaml",
        "../etc/passwd",
        "/etc/passwd",
        "a//b",
        "configs/configs/x",
        "\uff0e\uff0e/x",
        "a\u0000b",
        "00000000-0000-4000-8000-000000000000",
        "agent-1.example",
        "a/admin.token",
        "..");
  }

  @Override
  public void read(String text) {
    job(text);
    config(text);
    worker(text);
    host(text);
  }

  private static void job(String text) {
    Names.id(text).map(UUID::toString).ifPresent(id -> below("jobs", id));
    String name = Names.job(text);
    FuzzTarget.check(name.length() <= 128, "not too long");
    FuzzTarget.check(name.matches("[A-Za-z0-9_.-]*"), "of harmless characters: " + name);
  }

  private static void config(String text) {
    try {
      ConfigPath path = ConfigPath.of("config_path", text);
      below(path.fromRoot().toArray(String[]::new));
      FuzzTarget.check(
          ConfigPath.of("config_path", path.toString()).equals(path), "the same again: " + text);
      FuzzTarget.check(path.toString().matches("\\S+"), "one word: " + text);
      FuzzTarget.check(
          path.names().stream().noneMatch(each -> each.startsWith("-") || each.startsWith(".")),
          "no option: " + text);
    } catch (HoldfastException e) {
      FuzzTarget.check(String.valueOf(e.getMessage()).contains("config_path"), "it is named");
    }
  }

  // Those that get jobs by the native API have any name that the engine allows.
  private static void worker(String text) {
    String file = JobFiles.claim(JOB, text);
    below("queue", file);
    FuzzTarget.check(file.matches("[A-Za-z0-9_.:@+-]{1,200}"), "of harmless characters: " + file);
    FuzzTarget.check(SharedDirectory.isEntry(file), "taken by the directory: " + file);
  }

  private static void host(String text) {
    try {
      String agent = Names.host("worker_id", text);
      FuzzTarget.check(
          JobFiles.claim(JOB, text).equals(JOB + ".json.claim." + agent), "as it is: " + agent);
    } catch (HoldfastException e) {
      FuzzTarget.check(String.valueOf(e.getMessage()).contains("worker_id"), "it is named");
    }
  }

  private static void below(String... names) {
    Path path = ROOT.resolve(String.join("/", names));
    FuzzTarget.check(path.normalize().equals(path), "nothing to resolve: " + path);
    FuzzTarget.check(
        path.startsWith(ROOT) && path.getNameCount() == ROOT.getNameCount() + names.length,
        "below, and as deep as it is said: " + path);
  }
}
