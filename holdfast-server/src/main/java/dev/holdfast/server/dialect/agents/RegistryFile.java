package dev.holdfast.server.dialect.agents;

import dev.holdfast.api.Json;
import dev.holdfast.executor.files.SharedDirectory;
import dev.holdfast.loop.Batcher;
import dev.holdfast.tenant.Db;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code job_track.json}: every job, in one file. A file is replaced whole, so a change of one job
 * costs as much as there are jobs; if every change did so at once, ten thousand jobs would cost
 * what a hundred million do. So those that come together share one writing, and as soon as there
 * are many jobs nobody waits for it: it is written at most once a second, and less often when that
 * takes long. Nobody decides by this file, it is for people and for listing.
 *
 * <p>It is always made from the whole of the tables, under the lock of one row, which also says
 * what was written last: any node can tell that it is behind.
 */
final class RegistryFile {

  private static final Logger log = LoggerFactory.getLogger(RegistryFile.class);

  static final List<String> PATH = List.of("job_track.json");

  /** With so many it takes about as long to write as any other file. */
  static final int FEW = 200;

  private static final int MOST = 100_000;

  private static final String LOCK =
      """
      SELECT digest FROM {schema}.agent_registry FOR UPDATE
      """;

  private static final String DIGEST =
      """
      SELECT count(*) || ':' || coalesce(sum(hashtextextended(
               concat_ws(' ', job_id, shown, shown_info), 0)::numeric), 0)
        FROM {schema}.agent_job
      """;

  private static final String LAST =
      """
      SELECT digest FROM {schema}.agent_registry
      """;

  private static final String WRITTEN =
      """
      UPDATE {schema}.agent_registry SET digest = :digest
      """;

  private final AgentJobs jobs;
  private final Db db;
  private final SharedDirectory shared;
  private final Batcher<Boolean, Boolean> batcher = new Batcher<>(Integer.MAX_VALUE);
  private volatile int size; // when it was last written here: only says whether to wait

  RegistryFile(AgentJobs jobs, SharedDirectory shared) {
    this.jobs = jobs;
    this.db = jobs.db();
    this.shared = shared;
  }

  /** Something in it is no longer so. Waits until it is, while there are few. */
  void changed() {
    if (size <= FEW) {
      batcher.ask(
          true,
          asked -> {
            write();
            return asked;
          });
    }
  }

  /** Writes it when it is behind; answers whether it was. */
  boolean follow() {
    boolean behind = db.inTransaction(handle -> !text(handle, DIGEST).equals(text(handle, LAST)));
    if (behind) {
      write();
    }
    return behind;
  }

  /** Makes it from the tables, whatever it says now. */
  void write() {
    int written =
        db.inTransaction(handle -> {
          text(handle, LOCK);
          // Looked at before the rows: what changes in between makes it behind again.
          Optional<String> digest = text(handle, DIGEST);
          ObjectNode registry = Json.object();
          List<UUID> all = jobs.newest(handle, MOST);
          jobs.each(
              handle,
              all.reversed(),
              job -> registry.set(job.id().toString(), Documents.entry(job)));
          try {
            shared.writeIfOther(PATH, JobFiles.bytes(registry));
          } catch (IOException e) {
            throw JobFiles.unwritable(e);
          }
          handle.createUpdate(db.sql(WRITTEN)).bind("digest", digest.orElse("")).execute();
          return all.size();
        });
    if (written == MOST && size < MOST) {
      log.warn("There are more than {} agents' jobs; the registry has the newest", MOST);
    }
    size = written;
  }

  private Optional<String> text(Handle handle, String sql) {
    return handle.createQuery(db.sql(sql)).mapTo(String.class).findOne();
  }
}
