package dev.holdfast.server.doctor;

import dev.holdfast.doctor.Check;
import dev.holdfast.doctor.Finding;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Checks the free space on the disk of a data directory. */
public final class DiskSpace implements Check {

  private static final long MEGA = 1_000_000;
  private static final long LITTLE = 2_000 * MEGA;
  private static final long TOO_LITTLE = 200 * MEGA;

  private final Path directory;

  public DiskSpace(Path directory) {
    this.directory = directory;
  }

  @Override
  public String name() {
    return "disk";
  }

  @Override
  public Finding look() {
    try {
      FileStore store = Files.getFileStore(directory);
      return judged(store.getUsableSpace(), store.getTotalSpace());
    } catch (IOException e) {
      return Finding.fail(
          this, "cannot look at " + directory + ": " + e.getMessage(), "see that it is there");
    }
  }

  Finding judged(long free, long all) {
    String detail =
        String.format(
            Locale.ROOT, "%,d MB of %,d MB free at %s", free / MEGA, all / MEGA, directory);
    String remedy = "make room, shorten retention, or move the data directory";
    if (free < TOO_LITTLE) {
      return Finding.fail(this, detail, remedy);
    }
    return free < LITTLE ? Finding.warn(this, detail, remedy) : Finding.ok(this, detail);
  }
}
