package dev.holdfast.server.ui;

import dev.holdfast.audit.AuditRecord;
import dev.holdfast.hold.ResourceState;
import dev.holdfast.job.AttemptRecord;
import dev.holdfast.job.Job;
import dev.holdfast.queue.LogChunk;
import dev.holdfast.queue.Why;
import java.util.List;
import java.util.Optional;

/** What the template of one job shows. */
record JobPageView(
    Frame frame,
    Job job,
    Why why,
    Timeline timeline,
    Optional<ProgressView> progress,
    List<AttemptRecord> attempts,
    List<ResourceState> resources,
    Optional<JsonTree> args,
    Optional<JsonTree> result,
    LogChunk log,
    boolean logIsCut,
    List<AuditRecord> acts,
    List<JobActs.Offer> offers) {

  boolean isLive() {
    return !job.state().isFinished();
  }

  boolean holds(ResourceState resource) {
    return resource.holders().stream().anyMatch(holder -> holder.jobId().equals(job.id()));
  }

  boolean blocks(ResourceState resource) {
    return resource.blocks().stream().anyMatch(block -> block.jobId().equals(job.id()));
  }
}
