package dev.holdfast.server.dialect.agents;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.api.Json;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.files.SharedDirectory;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jdbi.v3.core.Handle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Shows jobs in files. The files follow the database and are never asked what is true.
 *
 * <p>Why no file is ever older than what somebody was told: whoever changes a job calls {@link
 * #show} when the change is committed. That takes the lock of the job's own row in {@code
 * agent_job}, in the database and so for all nodes, reads the job anew under that lock, writes, and
 * lets go. So writers of one job's files follow each other, each has read what is at least as new
 * as its own change and as what the one before wrote, and the last one to come is the last to have
 * read. The engine's own rows are not locked meanwhile: a slow disk delays who waits for this job's
 * files and nobody else.
 *
 * <p>Why none stays old: what the files show is written down in the same row, in the transaction
 * that writes them. A node that dies between the change and the files leaves the two different, and
 * whichever node looks next ({@link AgentTenants}) writes them. Files that were lost or changed are
 * put right when a node starts.
 */
final class JobFiles {

  private static final Logger log = LoggerFactory.getLogger(JobFiles.class);

  private static final String QUEUE = "queue";
  private static final String JOBS = "jobs";
  private static final Pattern QUEUE_FILE =
      Pattern.compile("([0-9a-fA-F-]{36})\\.json(\\.claim\\..+)?");

  private final AgentJobs jobs;
  private final Catalogue catalogue;
  private final SharedDirectory shared;
  private final RegistryFile registry;

  JobFiles(AgentJobs jobs, Catalogue catalogue, SharedDirectory shared) {
    this.jobs = jobs;
    this.catalogue = catalogue;
    this.shared = shared;
    this.registry = new RegistryFile(jobs, shared);
  }

  RegistryFile registry() {
    return registry;
  }

  static List<String> directory(UUID id) {
    return List.of(JOBS, id.toString());
  }

  static List<String> log(UUID id) {
    return List.of(JOBS, id.toString(), "logs", id + ".log");
  }

  static List<String> progress(UUID id) {
    return List.of(JOBS, id.toString(), "progress", "progress.json");
  }

  static List<String> result(UUID id) {
    return List.of(JOBS, id.toString(), "results", "result.json");
  }

  /**
   * Lets its files, and the registry, show a job as it is. The database has decided already: when
   * they cannot be written now, they will be.
   */
  void show(UUID id) {
    try {
      if (show(id, false)) {
        registry.changed();
      }
    } catch (HoldfastException e) {
      log.warn("The files of job {} cannot be written now; they will be", id, e);
    }
  }

  /** Only its own files; fails when they cannot be written. */
  void showAlone(UUID id) {
    show(id, false);
  }

  /** Also where they should show it already: somebody may have changed them. */
  void repair(UUID id) {
    show(id, true);
    removeLeftovers(directory(id));
  }

  private void removeLeftovers(List<String> directory) {
    try {
      shared.removeLeftovers(directory);
    } catch (IOException e) {
      throw unwritable(e);
    }
  }

  /** Answers whether the registry has to say something else of it. */
  private boolean show(UUID id, boolean anyway) {
    return jobs.db()
        .inTransaction(handle -> {
          catalogue.lockOrMake(handle, id);
          return jobs.find(handle, id)
              .map(job -> write(handle, job, anyway))
              .orElseGet(() -> forget(handle, id));
        });
  }

  private boolean write(Handle handle, AgentJob job, boolean anyway) {
    if (job.isShown() && !anyway) {
      return false; // by somebody who came after us and read it before
    }
    byte[] info = bytes(Documents.info(job));
    String digest = digest(bytes(Documents.entry(job)));
    Optional<String> queueFile = queueFile(job);
    boolean news =
        !job.shown().key().equals(Optional.of(job.key()))
            || !job.shown().info().equals(Optional.of(digest));
    try {
      Instant at = catalogue.show(handle, job, digest, queueFile);
      if (job.shown().key().isEmpty()) {
        makeRoom(job.id());
      }
      writeFiles(job, new Write(info, news, anyway), at, queueFile);
    } catch (IOException e) {
      throw unwritable(e);
    }
    return news;
  }

  // Once, before anybody has the job: later what stands there is its container's.
  private void makeRoom(UUID id) throws IOException {
    for (List<String> path : List.of(log(id), progress(id), result(id))) {
      shared.make(path.subList(0, path.size() - 1));
    }
  }

  private void writeFiles(AgentJob job, Write write, Instant at, Optional<String> queueFile)
      throws IOException {
    if (write.all()) {
      put(in(job.id(), "job_info.json"), write.info, write);
    }
    put(in(job.id(), "status.json"), bytes(Documents.status(job, at)), write);
    if (queueFile.isPresent() && write.all()) {
      put(
          List.of(QUEUE, queueFile.get()),
          bytes(Documents.entry(job.id(), job.placement().host(), job.placement().hostRequired())),
          write);
    }
    Optional<String> before =
        written(job.shown().queueFile()).filter(name -> !queueFile.equals(Optional.of(name)));
    if (before.isPresent() && !shared.delete(List.of(QUEUE, before.get()))) {
      log.warn(
          "{} is not in the queue's directory, though a node wrote it: have all nodes the same"
              + " shared directory?",
          before.get());
    }
  }

  private void put(List<String> path, byte[] content, Write write) throws IOException {
    if (write.anyway) {
      shared.writeIfOther(path, content); // mostly nobody has touched it
    } else {
      shared.write(path, content);
    }
  }

  /**
   * What is to be written.
   *
   * @param news more than the time of the status
   * @param anyway whatever the files should show already
   */
  @SuppressWarnings("ArrayRecordComponent") // made, written and forgotten; nobody compares it
  private record Write(byte[] info, boolean news, boolean anyway) {

    boolean all() {
      return news || anyway;
    }
  }

  // The job is gone, by somebody's hand or because nothing is remembered for ever. What its agent
  // left is deleted only where somebody asked for that.
  private boolean forget(Handle handle, UUID id) {
    try {
      Catalogue.Left left = catalogue.left(handle, id);
      Optional<String> before = written(left.queueFile());
      if (before.isPresent()) {
        shared.delete(List.of(QUEUE, before.get()));
      }
      if (left.removing()) {
        shared.deleteAll(directory(id));
        deleteConfig(handle, id);
      }
      catalogue.forget(handle, id);
      return true;
    } catch (IOException e) {
      throw unwritable(e);
    }
  }

  // The one that was written for it and nobody gave a name to, unless somebody had it run again.
  private void deleteConfig(Handle handle, UUID id) throws IOException {
    ConfigPath own = ConfigPath.ofJob(id);
    if (!jobs.isConfigWanted(handle, own)) {
      shared.deleteAll(own.fromRoot());
    }
  }

  // Earlier versions recorded names with a worker's slashes, which are nobody's to delete.
  private static Optional<String> written(Optional<String> queueFile) {
    return queueFile.filter(SharedDirectory::isEntry);
  }

  /** The one that stands for it: its own while it waits, its agent's claim until that reports. */
  private static Optional<String> queueFile(AgentJob job) {
    return switch (job.status()) {
      case QUEUED -> Optional.of(job.id() + ".json");
      case DISPATCHED -> job.worker().map(worker -> claim(job.id(), worker));
      default -> Optional.empty();
    };
  }

  static String claim(UUID id, String worker) {
    return id + ".json.claim." + Names.claimant(worker);
  }

  /** Directories that agents expect. */
  void prepare() {
    try {
      for (String name : List.of(ConfigPath.DIRECTORY, "datasets", JOBS, QUEUE)) {
        shared.make(List.of(name));
      }
    } catch (IOException e) {
      throw unwritable(e);
    }
  }

  /**
   * Deletes what stands for no job that waits: orphans, and what nobody can read.
   *
   * @return the ids, or names where there is none, of what was deleted
   */
  List<String> sweepQueue() {
    removeLeftovers(List.of());
    removeLeftovers(List.of(QUEUE));
    try {
      return shared.list(List.of(QUEUE)).stream().flatMap(name -> sweep(name).stream()).toList();
    } catch (IOException e) {
      throw unwritable(e);
    }
  }

  private Optional<String> sweep(String name) {
    Matcher known = QUEUE_FILE.matcher(name);
    Optional<UUID> id = known.matches() ? Names.id(known.group(1)) : Optional.empty();
    if (SharedDirectory.isTemporary(name)) {
      return Optional.empty(); // somebody is writing it
    }
    if (id.isPresent() && isWanted(id.get(), name)) {
      return Optional.empty();
    }
    try {
      shared.deleteAll(List.of(QUEUE, name));
      return Optional.of(id.map(UUID::toString).orElse(name));
    } catch (IOException e) {
      throw unwritable(e);
    }
  }

  // Under its lock: one that is being written this moment must not be taken for an orphan.
  private boolean isWanted(UUID id, String name) {
    return jobs.db()
        .inTransaction(handle ->
            catalogue.lock(handle, id)
                && jobs.find(handle, id).flatMap(JobFiles::queueFile).equals(Optional.of(name)));
  }

  private static List<String> in(UUID id, String name) {
    return List.of(JOBS, id.toString(), name);
  }

  static byte[] bytes(ObjectNode json) {
    return (Json.write(json) + "\n").getBytes(UTF_8);
  }

  private static String digest(byte[] content) {
    CRC32C sum = new CRC32C();
    sum.update(content);
    return Long.toHexString(sum.getValue());
  }

  static HoldfastException unwritable(IOException e) {
    return new HoldfastException(
        ErrorCode.UNAVAILABLE, "the shared directory cannot be used: " + e.getMessage(), e);
  }
}
