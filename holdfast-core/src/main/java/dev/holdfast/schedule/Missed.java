package dev.holdfast.schedule;

import dev.holdfast.outbox.Outbox;
import dev.holdfast.slot.Slots;
import dev.holdfast.slot.Slots.Skipped;
import dev.holdfast.tenant.Db;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Records slots that do not run, and notes them for webhooks. */
final class Missed {

  private static final Logger log = LoggerFactory.getLogger(Missed.class);

  private final Slots slots;
  private final Outbox outbox;

  Missed(Db db) {
    this.slots = new Slots(db);
    this.outbox = new Outbox(db);
  }

  /** Records slots as skipped. */
  void skip(Handle handle, String schedule, List<Skipped> skipped) {
    int missed = slots.skip(handle, schedule, skipped);
    if (missed > 0) {
      Skipped last = skipped.getLast();
      outbox.slotsMissed(
          handle, "%d slots of schedule %s, last %s".formatted(missed, schedule, last));
      log.info("{} slots of schedule {} are skipped, last {}", missed, schedule, last);
    }
  }

  /** Gives up runs that take too long, so that later slots no longer wait for them. */
  void giveUp(Handle handle, Schedule schedule) {
    int givenUp = slots.giveUp(handle, schedule.name(), schedule.longestRun());
    if (givenUp > 0) {
      outbox.slotsMissed(
          handle,
          "%d runs of schedule %s, given up after more than %d s"
              .formatted(givenUp, schedule.name(), schedule.longestRun().toSeconds()));
      log.warn("Gave up {} runs of schedule {} that took too long", givenUp, schedule.name());
    }
  }
}
