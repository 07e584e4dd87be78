package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.util.Set;
import java.util.regex.Pattern;

/** The images that may be run: none, unless configured. Immutable. */
record AllowedImages(Set<String> entries) {

  private static final Pattern REFERENCE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._/:@-]{0,499}");
  // Forbidden, because image names become part of the path of requests to the engine.
  private static final Pattern ELSEWHERE = Pattern.compile("//|\\.\\.|(^|/)\\.(/|$)");
  private static final Pattern UNFINISHED = Pattern.compile("[/:@]$");
  private static final String ALL = "*";

  AllowedImages {
    entries.forEach(entry -> {
      String name = entry.endsWith(ALL) ? entry.substring(0, entry.length() - 1) : entry;
      if (!name.isEmpty() && !REFERENCE.matcher(name).matches()) {
        throw HoldfastException.badConfig(
            "executors.images", entry, "like busybox:1.36, registry.example.org/team/*, *");
      }
    });
  }

  boolean allow(String image) {
    return REFERENCE.matcher(image).matches()
        && !ELSEWHERE.matcher(image).find()
        && !UNFINISHED.matcher(image).find()
        && entries.stream()
            .anyMatch(entry ->
                entry.endsWith(ALL)
                    ? image.startsWith(entry.substring(0, entry.length() - 1))
                    : image.equals(entry));
  }
}
