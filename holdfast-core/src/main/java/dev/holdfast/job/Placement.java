package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Which workers may have a job. A job waits for a required host; a preferred host is only offered
 * the job first. A worker must have all labels of the job.
 */
public record Placement(Optional<String> host, boolean hostRequired, Map<String, String> labels) {

  public static final Placement ANYWHERE = new Placement(Optional.empty(), false, Map.of());

  public Placement {
    host.ifPresent(name -> Limits.name("host", name));
    if (hostRequired && host.isEmpty()) {
      throw HoldfastException.invalid("require_host", true, "only together with a host");
    }
    labels = checkedLabels(labels);
  }

  public static Placement preferring(String host) {
    return new Placement(Optional.of(host), false, Map.of());
  }

  public static Placement requiring(String host) {
    return new Placement(Optional.of(host), true, Map.of());
  }

  public Placement withLabels(Map<String, String> labels) {
    return new Placement(host, hostRequired, labels);
  }

  /** Returns the labels, or throws if they break a limit. */
  public static Map<String, String> checkedLabels(Map<String, String> labels) {
    if (labels.size() > Limits.LABELS) {
      throw HoldfastException.invalid(
          "labels", labels.size() + " labels", "at most " + Limits.LABELS);
    }
    labels.forEach((name, value) -> {
      Limits.name("labels", name);
      Limits.name("labels", value);
      // Stored as name=value, so the first '=' must end the name.
      if (name.indexOf('=') >= 0) {
        throw HoldfastException.invalid("labels", name, "names without '='");
      }
    });
    // Labels are part of an index, whose entries have a maximum size.
    int chars =
        labels.entrySet().stream().mapToInt(l -> l.getKey().length() + l.getValue().length()).sum();
    if (chars > Limits.LABEL_CHARS) {
      throw HoldfastException.invalid(
          "labels", chars + " characters", "at most " + Limits.LABEL_CHARS + " in all");
    }
    return Map.copyOf(labels);
  }

  /** Reads labels that {@link #stored} wrote. */
  public static Map<String, String> read(List<String> stored) {
    Map<String, String> labels = new TreeMap<>();
    stored.forEach(label -> {
      int end = label.indexOf('=');
      labels.put(label.substring(0, end), label.substring(end + 1));
    });
    return labels;
  }

  /** Labels as {@code name=value}, sorted, as the tables compare them. */
  public static String[] stored(Map<String, String> labels) {
    return new TreeMap<>(labels)
        .entrySet().stream()
            .map(label -> label.getKey() + "=" + label.getValue())
            .toArray(String[]::new);
  }
}
