package dev.holdfast.executor;

import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.hold.EngineRig;
import dev.holdfast.job.Job;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.worker.Worker;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** Jobs of the kinds that come with their handlers. */
abstract class ExecutorTest extends EngineRig {

  /** The job after one attempt. */
  Job run(ExecutorConfig config, NewJob job) {
    UUID id = enqueue(job);
    try (JobExecutors executors = JobExecutors.open(JobExecutors.USUAL, config);
        Worker worker = executors.installOn(tenant.worker()).build()) {
      worker.runDue();
    }
    return tenant.job(id);
  }

  static Map<?, ?> result(Job job) {
    Payload result = job.result().orElseThrow(() -> new AssertionError(job.toString()));
    return new JacksonCodec().decode(result.json(), Map.class);
  }

  /** A field of the result, as text. */
  static String text(Job job, String field) {
    return String.valueOf(result(job).get(field));
  }

  static JobExecutors open(ExecutorConfig config) {
    return JobExecutors.open(Set.of("process"), config);
  }
}
