package dev.holdfast.server;

import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Where a server that was not told keeps the files that it shares with agents: in the directory of
 * the documents if this machine has it and the server can use it, else in its data directory. What
 * it has begun there stays there.
 *
 * <p>A server removes what it does not know from the queue's folder. So the documented directory
 * belongs to the first server that takes it unasked, which leaves its data directory's name there.
 */
public final class UsualSharedDirectory {

  /** Where the documents have it, and agents look for it. */
  public static final Path DOCUMENTED = Path.of("/opt/opeva_shared_data");

  private static final String OWNER = ".holdfast-server";

  private UsualSharedDirectory() {}

  public static Path of(Path data) {
    return of(data, DOCUMENTED);
  }

  static Path of(Path data, Path documented) {
    AgentSettings own = AgentSettings.defaults(data);
    AgentSettings common = own.withDirectory(documented);
    if (own.hasFiles() || !isUsable(common)) {
      return own.directory();
    }
    takeOver(common.directory(), data.toAbsolutePath().normalize().toString());
    return common.directory();
  }

  private static boolean isUsable(AgentSettings common) {
    Path others = common.directoryOfOthers();
    return Files.isDirectory(common.directory())
        && Files.isWritable(common.directory())
        && Files.isWritable(Files.exists(others) ? others : others.getParent());
  }

  private static void takeOver(Path directory, String server) {
    Path file = directory.resolve(OWNER);
    try {
      Files.writeString(file, server, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    } catch (FileAlreadyExistsException e) {
      requireOwn(file, server);
    } catch (IOException e) {
      throw refused(directory, "which cannot be written: " + e);
    }
  }

  private static void requireOwn(Path file, String server) {
    String owner;
    try {
      owner = Files.readString(file);
    } catch (IOException e) {
      throw refused(file, "which cannot be read: " + e);
    }
    if (!owner.equals(server)) {
      throw refused(
          file.resolveSibling(""),
          "which belongs to the server whose data is in '%s'".formatted(owner));
    }
  }

  private static HoldfastException refused(Path directory, String why) {
    return HoldfastException.badConfig(
        "shared-dir", "none", "a directory, because the usual one is " + directory + ", " + why);
  }
}
