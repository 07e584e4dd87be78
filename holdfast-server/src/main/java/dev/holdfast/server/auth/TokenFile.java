package dev.holdfast.server.auth;

import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;

/** The first token of a server, in a file of the data directory that only its owner can read. */
public final class TokenFile {

  private static final String NAME = "admin.token";
  private static final Set<PosixFilePermission> OWNERS_ALONE =
      PosixFilePermissions.fromString("rw-------");

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
      String drawn = tokens.draw();
      boolean isNew = !Files.exists(file) && write(directory, file, drawn);
      String token = isNew ? drawn : read(file);
      // Also when it is not new: the database may be another one than the token was made for. A
      // revoked token stays revoked.
      keep(tokens, token);
      return isNew ? Optional.of(token) : Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot keep the first token in " + file, e);
    }
  }

  private static void keep(Tokens tokens, String token) {
    tokens.put(token, "admin", Role.SYSTEM, Optional.empty(), Optional.empty());
  }

  private static String read(Path file) throws IOException {
    String token = Files.readString(file).strip();
    if (!Tokens.isToken(token)) {
      throw HoldfastException.badConfig(
          file.toString(), "not a token", "as it was written; remove it to have a new one made");
    }
    if (!Files.getPosixFilePermissions(file).equals(OWNERS_ALONE)) {
      throw HoldfastException.badConfig(
          file.toString(),
          PosixFilePermissions.toString(Files.getPosixFilePermissions(file)),
          PosixFilePermissions.toString(OWNERS_ALONE));
    }
    return token;
  }

  // At no moment can another user read the file, and it is there completely or not at all. False
  // when another node was faster.
  private static boolean write(Path directory, Path file, String token) throws IOException {
    Path draft =
        Files.createTempFile(
            directory, NAME, null, PosixFilePermissions.asFileAttribute(OWNERS_ALONE));
    Files.writeString(draft, token + System.lineSeparator());
    try {
      Files.createLink(file, draft); // unlike a move, it does not replace a file
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    } finally {
      Files.delete(draft);
    }
  }
}
