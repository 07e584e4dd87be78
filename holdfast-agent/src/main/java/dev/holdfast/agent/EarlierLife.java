package dev.holdfast.agent;

import dev.holdfast.api.HttpLeases;
import dev.holdfast.api.Json;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.loop.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Takes the jobs of an agent's earlier life out of limbo: how they ended, if that was written down,
 * or else that they are lost, so that nobody has to wait for their leases. That they no longer run
 * is sure: their agent is dead, or this one would not have its directory, and what is left of them
 * is killed first; nobody is told of a job as long as something of it may still run. Called from
 * one thread; any may ask whether it is over.
 */
final class EarlierLife implements Loop.Step {

  private static final Logger log = LoggerFactory.getLogger(EarlierLife.class);

  private static final Duration DONE = Duration.ofHours(1);

  private final Deque<Journal.Entry> left;
  private final Journal journal;
  private final JobExecutors executors;
  private final Server server;
  private volatile boolean isOver;

  /** Who is told. */
  @FunctionalInterface
  interface Server {
    FinishReply settle(Journal.Entry entry);
  }

  EarlierLife(List<Journal.Entry> left, Journal journal, JobExecutors executors, Server server) {
    this.left = new ArrayDeque<>(left);
    this.journal = journal;
    this.executors = executors;
    this.server = server;
    this.isOver = left.isEmpty();
  }

  static Server telling(HttpLeases leases) {
    return entry -> leases.finishWritten(entry.worker(), entry.end().orElseGet(() -> lost(entry)));
  }

  @Override
  public Duration runOnce() {
    while (!left.isEmpty()) {
      Journal.Entry entry = left.removeFirst();
      left.addLast(entry); // if this fails, it is tried again, but keeps no other waiting
      settle(entry);
      journal.forget(entry.file());
      left.removeLast();
    }
    isOver = true;
    return DONE;
  }

  /** Whether nothing of it is left. */
  boolean isOver() {
    return isOver;
  }

  private void settle(Journal.Entry entry) {
    if (entry.end().isEmpty()) {
      JobProcesses.kill(entry.jobId(), entry.fence());
      executors.endLeft(entry.jobId(), entry.fence());
    }
    try {
      FinishReply reply = server.settle(entry);
      log.info(
          "Job {} of an earlier life: {}, {}",
          entry.serverId(),
          entry.end().isPresent() ? "ended" : "lost",
          reply);
    } catch (HoldfastException e) {
      if (e.code() == ErrorCode.UNAVAILABLE || e.code() == ErrorCode.DATABASE) {
        throw e;
      }
      log.warn("The server does not want to hear of job {}", entry.serverId(), e);
    }
  }

  private static ObjectNode lost(Journal.Entry entry) {
    return Json.object()
        .put("job_id", entry.jobId().toString())
        .put("fence", entry.fence())
        .put("outcome", "lost");
  }
}
