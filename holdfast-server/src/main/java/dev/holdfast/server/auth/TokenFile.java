package dev.holdfast.server.auth;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;

/** The first token, in the data directory, where whoever may read it finds it. */
public final class TokenFile {

  private static final String NAME = "admin.token";

  private TokenFile() {}

  /**
   * Makes sure that the directory has a system token that is in force.
   *
   * @return the token, when it is new
   */
  public static Optional<String> ensure(Path directory, Tokens tokens) {
    Path file = directory.resolve(NAME);
    try {
      Files.createDirectories(directory);
      if (Files.exists(file)) {
        // The database may be another one than it was made for. One that was revoked stays so.
        keep(tokens, Files.readString(file).strip());
        return Optional.empty();
      }
      String token = tokens.draw();
      keep(tokens, token);
      write(directory, file, token);
      return Optional.of(token);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot keep the first token in " + file, e);
    }
  }

  private static void keep(Tokens tokens, String token) {
    tokens.put(token, "admin", Role.SYSTEM, Optional.empty(), Optional.empty());
  }

  // Nobody else can read it at any moment, and it is whole or not there.
  private static void write(Path directory, Path file, String token) throws IOException {
    Path draft =
        Files.createTempFile(
            directory,
            NAME,
            null,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(draft, token + System.lineSeparator());
    Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
  }
}
