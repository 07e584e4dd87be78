package dev.holdfast.server.postgres;

import dev.holdfast.Holdfast;
import dev.holdfast.audit.Act;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.TenantName;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Creates a data directory from a backup. Fences are raised before the server accepts requests:
 * fences granted after the backup are unknown here, and must not be granted again.
 */
public final class Restore {

  private final Path backup;
  private final Manifest manifest;
  private final DataDirectory data;

  private Restore(Path backup, Manifest manifest, DataDirectory data) {
    this.backup = backup;
    this.manifest = manifest;
    this.data = data;
  }

  /**
   * Creates the data directory.
   *
   * @param directory a directory that is empty or does not exist
   * @return the fence from which each tenant continues
   */
  public static Map<TenantName, Long> from(Path backup, Path directory) {
    try {
      Manifest manifest = Manifest.in(backup);
      DataDirectory data = DataDirectory.of(directory);
      Directories.claimEmpty("--data", data.root());
      // Keeps out another restore that also found the directory empty. If this one fails, it
      // removes only its own files.
      try (DirectoryLock lock = DirectoryLock.take(data.root())) {
        return new Restore(backup, manifest, data).run(lock);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot restore into " + directory, e);
    }
  }

  private Map<TenantName, Long> run(DirectoryLock lock) throws IOException {
    try {
      Files.writeString(data.unfinishedRestore(), "");
      Copies.force(data.root());
      copyFiles();
      Path unused = Binaries.in(data.root(), this::refuseAnotherVersion);
      Map<TenantName, Long> fences = raiseFences(lock);
      Files.delete(data.unfinishedRestore());
      Copies.force(data.root());
      return fences;
    } catch (IOException | RuntimeException e) {
      Directories.empty(data.root()); // as it was before
      throw e;
    }
  }

  private void refuseAnotherVersion(Commands programs) {
    String ours = programs.majorVersion();
    if (!manifest.postgres().equals(ours)) {
      throw HoldfastException.badConfig(
          "DIR",
          backup,
          "a backup of PostgreSQL %s; this one is of %s, and the Holdfast that took it can restore it"
              .formatted(ours, manifest.postgres()));
    }
  }

  private void copyFiles() throws IOException {
    for (String directory : manifest.directories()) {
      Directories.withParents(inData(directory));
    }
    for (Manifest.Entry entry : manifest.entries()) {
      Path from = backup.resolve(entry.path());
      if (!Files.exists(from)) {
        throw Manifest.refused(backup, entry.path() + " is missing");
      }
      if (!Copies.copy(from, inData(entry.path()), entry.path()).equals(entry)) {
        throw Manifest.refused(backup, entry.path() + " is not as it was written");
      }
    }
    Copies.forceAll(data.root());
  }

  private Path inData(String path) {
    Path inside = data.root().resolve(path).normalize();
    if (!inside.startsWith(data.root())) {
      throw Manifest.refused(backup, path + " leads out of it");
    }
    return inside;
  }

  private Map<TenantName, Long> raiseFences(DirectoryLock lock) throws IOException {
    try (EmbeddedPostgres postgres = EmbeddedPostgres.start(data, lock)) {
      return Holdfast.on(postgres.dataSource())
          .raiseFences(Act.by("holdfast restore").because("from a backup"));
    }
  }
}
