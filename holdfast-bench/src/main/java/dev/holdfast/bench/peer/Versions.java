package dev.holdfast.bench.peer;

import java.nio.file.Path;
import java.security.CodeSource;

/** Which version of a peer this is, from the name of its jar: their manifests do not all say it. */
final class Versions {

  private Versions() {}

  static String of(Class<?> type) {
    CodeSource source = type.getProtectionDomain().getCodeSource();
    if (source == null) {
      return "unknown version";
    }
    String jar = Path.of(source.getLocation().getPath()).getFileName().toString();
    return jar.replaceFirst(".*?-(\\d.*)\\.jar", "$1");
  }
}
