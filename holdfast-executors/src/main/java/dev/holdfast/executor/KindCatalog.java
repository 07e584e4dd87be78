package dev.holdfast.executor;

import dev.holdfast.worker.JobContext;
import java.util.Map;
import java.util.Set;

/** The registered kinds, as executors need them. Thread-safe. */
public interface KindCatalog {

  /** The kinds that one of these executors runs, in any tenant. Answers from memory. */
  Set<String> kinds(Set<String> executors);

  /** The executors of one tenant, by kind. Answers from memory. */
  Map<String, String> executors(String tenant);

  /**
   * What a job runs with; asked once, when it starts. If it fails because the server or the
   * database cannot be reached, the job is tried again later. With {@code STATE_CONFLICT}, because
   * the job was enqueued for another executor than its kind has now, the job fails.
   */
  Runbook runbook(JobContext job);
}
