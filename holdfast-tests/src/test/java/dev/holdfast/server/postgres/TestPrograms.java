package dev.holdfast.server.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** PostgreSQL's programs, unpacked once for all tests whose subject that is not. */
public final class TestPrograms {

  private TestPrograms() {}

  private static final class Shared {
    static final Path HOME = unpacked();
  }

  private static Path unpacked() {
    try {
      return Binaries.in(
          Files.createDirectories(Path.of("target", "programs").toAbsolutePath()), any -> {});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Puts them into a data directory, made if need be, as a link. */
  public static Path in(Path data) throws IOException {
    Files.createDirectories(data);
    if (!Files.exists(data.resolve("postgres"))) {
      Files.createSymbolicLink(data.resolve("postgres"), Shared.HOME);
    }
    return data;
  }
}
