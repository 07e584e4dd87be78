package dev.holdfast.worker;

import dev.holdfast.job.Outcome;
import dev.holdfast.job.SlotKey;
import dev.holdfast.lease.Lease;
import java.time.Duration;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/** Logs the start and end of scheduled runs, with fields for programs that read the log. */
final class RunLog {

  private static final Logger log = LoggerFactory.getLogger("holdfast.runs");

  private RunLog() {}

  static void started(Lease lease, SlotKey slot) {
    about(log.atInfo(), lease, slot)
        .log("Run of {} for {} started", slot.schedule(), slot.scheduledFor());
  }

  static void ended(Lease lease, SlotKey slot, Outcome outcome, Duration ran, long rows) {
    boolean failed = outcome instanceof Outcome.Failed;
    LoggingEventBuilder line =
        about(failed ? log.atWarn() : log.atInfo(), lease, slot)
            .addKeyValue("outcome", outcome.getClass().getSimpleName().toLowerCase(Locale.ROOT))
            .addKeyValue("duration_ms", ran.toMillis())
            .addKeyValue("rows_processed", rows);
    if (outcome instanceof Outcome.Failed(var failure)) {
      line.addKeyValue("error_code", failure.code())
          .addKeyValue("error_message", failure.message())
          .log(
              "Run of {} for {} failed: {}",
              slot.schedule(),
              slot.scheduledFor(),
              failure.message());
    } else {
      line.log("Run of {} for {} ended", slot.schedule(), slot.scheduledFor());
    }
  }

  private static LoggingEventBuilder about(LoggingEventBuilder line, Lease lease, SlotKey slot) {
    return line.addKeyValue("job_name", slot.schedule())
        .addKeyValue("scheduled_for", slot.scheduledFor())
        .addKeyValue("job_id", lease.key().jobId())
        .addKeyValue("worker_instance", lease.worker());
  }
}
