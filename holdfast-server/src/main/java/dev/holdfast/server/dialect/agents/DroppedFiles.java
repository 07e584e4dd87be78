package dev.holdfast.server.dialect.agents;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.files.SharedDirectory;
import dev.holdfast.server.AgentSettings;
import dev.holdfast.tenant.TenantName;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Directories of tenants that were dropped. Such a directory is first moved to a name that no
 * tenant can have. That takes a moment, however much is in it, and the new name is that of the same
 * directory: containers of the dropped tenant that still run have it mounted, and not the one that
 * a tenant of the same name gets.
 */
final class DroppedFiles {

  private static final Logger log = LoggerFactory.getLogger(DroppedFiles.class);

  // No tenant's name begins with a dot.
  private static final String DROPPED = ".dropped-";
  private static final String BEFORE = ".before-";

  private final AgentSettings settings;

  DroppedFiles(AgentSettings settings) {
    this.settings = settings;
  }

  /** Deletes the directory of a tenant that is dropped by now. */
  void delete(TenantName tenant) {
    Path directory = settings.directoryOf(tenant);
    try {
      Files.move(directory, aside(directory, DROPPED, tenant), StandardCopyOption.ATOMIC_MOVE);
    } catch (NoSuchFileException e) {
      return; // it never had agents
    } catch (IOException e) {
      log.warn("The directory {} of the dropped tenant {} stays", directory, tenant, e);
      return;
    }
    clear();
  }

  /**
   * Moves away what is there although the tenant is new. It is kept: nothing says that it is the
   * dropped tenant's.
   */
  void setAside(TenantName tenant) {
    Path directory = settings.directoryOf(tenant);
    Path aside = aside(directory, BEFORE, tenant);
    try {
      if (!isEmpty(directory)) {
        Files.move(directory, aside, StandardCopyOption.ATOMIC_MOVE);
        log.warn(
            "What was in {} before the tenant {} was made is now in {}", directory, tenant, aside);
      }
    } catch (NoSuchFileException e) {
      return; // as it should be
    } catch (IOException e) {
      throw new HoldfastException(
          ErrorCode.UNAVAILABLE,
          "%s has files of a dropped tenant, and cannot be moved to %s: empty it, or move it away"
              .formatted(directory, aside),
          e);
    }
  }

  private static boolean isEmpty(Path directory) throws IOException {
    if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      return !entries.iterator().hasNext();
    }
  }

  private static Path aside(Path directory, String prefix, TenantName tenant) {
    return directory.resolveSibling(prefix + tenant + "-" + UUID.randomUUID());
  }

  /** Deletes what was moved away to be deleted, also by a process that ended too soon. */
  void clear() {
    if (!Files.isDirectory(settings.directoryOfOthers())) {
      return;
    }
    try {
      SharedDirectory all = SharedDirectory.at(settings.directoryOfOthers());
      for (String name : all.list(List.of())) {
        if (name.startsWith(DROPPED)) {
          all.deleteAll(List.of(name));
        }
      }
    } catch (IOException | HoldfastException e) {
      log.warn(
          "Files of a dropped tenant in {} stay until the next start",
          settings.directoryOfOthers(),
          e);
    }
  }
}
