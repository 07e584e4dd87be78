package dev.holdfast.agent;

import dev.holdfast.api.Fields;
import dev.holdfast.api.HttpLeases;
import dev.holdfast.api.Json;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseKey;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * What an agent has begun, and how it ended, until the server is known to know: a file for each
 * lease. The next life reads it. It saves time and work and nothing depends on it (a lease that
 * nobody speaks of runs out), so what cannot be written is not written, and nothing is forced to
 * the disk: it outlives the process, though perhaps not the machine. Thread-safe, one lease at a
 * time.
 */
final class Journal {

  private static final Logger log = LoggerFactory.getLogger(Journal.class);

  /**
   * A lease of an earlier life.
   *
   * @param jobId as the worker knows the job
   * @param serverId as the server calls it, which need not be a UUID
   * @param end how it ended, if it had
   */
  record Entry(
      Path file,
      String worker,
      UUID jobId,
      String serverId,
      long fence,
      Optional<ObjectNode> end) {}

  private static final String SUFFIX = ".json";

  private final Path directory;
  private final Function<UUID, String> serverIds;

  /**
   * In a directory of its own.
   *
   * @param serverIds what the server calls a job that has begun and not ended
   */
  Journal(Path directory, Function<UUID, String> serverIds) throws IOException {
    this.directory = Files.createDirectories(directory);
    this.serverIds = serverIds;
  }

  void begun(Lease lease) {
    write(file(lease.key()), json(lease.worker(), lease.key()));
  }

  void ended(Finish finish) {
    Lease lease = finish.lease();
    try {
      ObjectNode json = json(lease.worker(), lease.key());
      json.set("end", HttpLeases.written(finish));
      write(file(lease.key()), json);
    } catch (RuntimeException e) {
      log.debug("The end of job {} cannot be written down", lease.key().jobId(), e);
    }
  }

  void settled(LeaseKey key) {
    forget(file(key));
  }

  void forget(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      log.warn("Cannot remove {}", file, e);
    }
  }

  /** What earlier lives left; to be asked before anything is begun. */
  List<Entry> left() {
    List<Entry> entries = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        read(file).ifPresentOrElse(entries::add, () -> forget(file));
      }
    } catch (IOException e) {
      log.warn("Cannot read {}: what earlier lives left is left to its leases", directory, e);
    }
    return entries;
  }

  // One that was cut off while it was being written was never begun.
  private static Optional<Entry> read(Path file) {
    try {
      if (!file.toString().endsWith(SUFFIX)) {
        return Optional.empty();
      }
      Fields said = Fields.of("lease", Json.parse("lease", Files.readString(file)));
      return Optional.of(
          new Entry(
              file,
              said.text("worker"),
              said.uuid("job_id"),
              said.optionalText("server_id").orElseGet(() -> said.text("job_id")),
              said.number("fence"),
              said.optionalObject("end").map(Fields::json)));
    } catch (IOException | RuntimeException e) {
      log.warn("{} cannot be read", file, e);
      return Optional.empty();
    }
  }

  private ObjectNode json(String worker, LeaseKey key) {
    return Json.object()
        .put("worker", worker)
        .put("job_id", key.jobId().toString())
        .put("server_id", serverIds.apply(key.jobId()))
        .put("fence", key.fence());
  }

  private Path file(LeaseKey key) {
    return directory.resolve(key.jobId() + "-" + key.fence() + SUFFIX);
  }

  private static void write(Path file, ObjectNode json) {
    Path draft = file.resolveSibling(file.getFileName() + ".draft");
    try {
      Files.writeString(draft, Json.write(json));
      Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      log.warn("Cannot write {}; after a crash its job waits until its lease is over", file, e);
    }
  }
}
