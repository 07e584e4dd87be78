package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a job of kind {@code container}.
 *
 * @param command the arguments of the image's own program, or the program if the image has none
 * @param name the container's name; default: a unique name
 * @param secrets names of variables in {@code env}, or of configured secrets
 * @param memoryMb the limit in MB; unlimited by default, like {@code cpus} and {@code pids}
 */
record ContainerArgs(
    String image,
    List<String> command,
    List<String> entrypoint,
    Optional<String> name,
    List<Volume> volumes,
    Map<String, String> env,
    List<String> secrets,
    Map<String, String> labels,
    Optional<Double> memoryMb,
    Optional<Double> cpus,
    Optional<Double> pids,
    Pull pull,
    Optional<String> network,
    Optional<String> cwd,
    Optional<String> user) {

  /** A directory of this machine that is mounted in the container. */
  record Volume(String host, String container, boolean readOnly) {}

  /** When an image is pulled. */
  enum Pull {
    NEVER,
    MISSING,
    ALWAYS
  }

  /** The prefix of labels that are reserved for executors. */
  static final String OURS = "dev.holdfast.";

  private static final Set<String> FIELDS =
      Set.of(
          "image",
          "command",
          "entrypoint",
          "name",
          "volumes",
          "env",
          "secrets",
          "labels",
          "memory_mb",
          "cpus",
          "pids",
          "pull",
          "network",
          "cwd",
          "user");

  private static final Set<String> VOLUME_FIELDS = Set.of("host", "container", "mode");
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,127}");
  private static final Pattern VARIABLE = Pattern.compile("[^=\\x00-\\x1f]+");

  static ContainerArgs read(@Nullable Object json) {
    Arguments args = new Arguments(json, FIELDS);
    return new ContainerArgs(
        args.text("image")
            .orElseThrow(() -> HoldfastException.invalid("image", "missing", "an image's name")),
        args.texts("command"),
        args.texts("entrypoint"),
        name(args),
        args.objects("volumes", VOLUME_FIELDS).stream().map(ContainerArgs::volume).toList(),
        env(args.textByName("env")),
        args.texts("secrets"),
        labels(args.textByName("labels")),
        args.number("memory_mb", 6, 1 << 24),
        args.number("cpus", 0.01, 1024),
        args.number("pids", 1, 1 << 22),
        pull(args.text("pull").orElse("missing")),
        network(args),
        args.text("cwd"),
        args.text("user"));
  }

  private static Optional<String> name(Arguments args) {
    Optional<String> name = args.text("name");
    name.ifPresent(given -> {
      if (!NAME.matcher(given).matches()) {
        throw HoldfastException.invalid("name", given, "letters, digits, _ . -, at most 128");
      }
    });
    return name;
  }

  private static Volume volume(Arguments volume) {
    String mode = volume.text("mode").orElse("rw");
    if (!mode.equals("rw") && !mode.equals("ro")) {
      throw HoldfastException.invalid("volumes.mode", mode, "ro, rw");
    }
    String inside = path(volume, "container");
    if (inside.indexOf(':') >= 0) {
      throw HoldfastException.invalid("volumes.container", inside, "a path without a colon");
    }
    return new Volume(path(volume, "host"), inside, mode.equals("ro"));
  }

  private static String path(Arguments volume, String field) {
    String path = volume.text(field).orElse("");
    if (!path.startsWith("/")) {
      throw HoldfastException.invalid("volumes." + field, path, "an absolute path");
    }
    return path;
  }

  private static Map<String, String> env(Map<String, String> env) {
    if (!env.keySet().stream().allMatch(VARIABLE.asMatchPredicate())) {
      throw HoldfastException.invalid("env", env.keySet(), "names of variables");
    }
    return env;
  }

  private static Map<String, String> labels(Map<String, String> labels) {
    labels
        .keySet()
        .forEach(name -> {
          if (name.isBlank() || name.startsWith(OURS)) {
            throw HoldfastException.invalid("labels", name, "names that do not begin with " + OURS);
          }
        });
    return labels;
  }

  private static Pull pull(String word) {
    return switch (word) {
      case "never" -> Pull.NEVER;
      case "missing" -> Pull.MISSING;
      case "always" -> Pull.ALWAYS;
      default -> throw HoldfastException.invalid("pull", word, "never, missing, always");
    };
  }

  // Neither the network of the host nor that of another container.
  private static Optional<String> network(Arguments args) {
    Optional<String> network = args.text("network");
    network.ifPresent(given -> {
      if (!ContainerConfig.NETWORKS.contains(given)) {
        throw HoldfastException.invalid("network", given, "bridge, none");
      }
    });
    return network;
  }
}
