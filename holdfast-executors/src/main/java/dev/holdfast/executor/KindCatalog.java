package dev.holdfast.executor;

import dev.holdfast.worker.JobContext;
import java.util.Map;
import java.util.Set;

/** What people registered, as executors need to know it. Thread-safe. */
public interface KindCatalog {

  /** Kinds that one of these executors runs, in any tenant. Answers from what it knows already. */
  Set<String> kinds(Set<String> executors);

  /** Executors by kind, of one tenant. Answers from what it knows already. */
  Map<String, String> executors(String tenant);

  /**
   * What a job is run with, asked once when it starts. May fail, and then the job waits; or say
   * {@code STATE_CONFLICT}, because the job was made for something else than what would run it, and
   * then it has failed.
   */
  Runbook runbook(JobContext job);
}
