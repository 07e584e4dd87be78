package dev.holdfast.bench.guard;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** What the guard compares with: read from the jar, written where the jar is built from. */
public final class RecordedRatios {

  private static final String NAME = "ratios.txt";

  /** Relative to the root of the repository. */
  public static final Path SOURCE =
      Path.of("holdfast-bench/src/main/resources/dev/holdfast/bench/guard").resolve(NAME);

  private RecordedRatios() {}

  public static Ratios read() throws IOException {
    try (InputStream file =
        Objects.requireNonNull(RecordedRatios.class.getResourceAsStream(NAME), NAME)) {
      return Ratios.parse(new String(file.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  /** Fails before anything is measured in vain. */
  public static void requireWritable() {
    if (!Files.isWritable(SOURCE)) {
      throw new IllegalStateException(SOURCE + " is not there: run this in the repository's root");
    }
  }

  public static void write(Ratios ratios) throws IOException {
    Files.writeString(SOURCE, ratios.toText());
  }
}
