package dev.holdfast.planted;

import dev.holdfast.rig.Tampering;
import java.util.List;

/**
 * A guard that stands in the tables and not in a statement: it is dropped from the tenant, each
 * time that is made. That somebody sees it is gone is not enough; what comes of it must be seen.
 */
enum PlantedHole {
  NO_UNIQUE_KEYS("job_unique_key", "DROP INDEX {schema}.job_unique_key"),
  SAME_IDS_STORED_TWICE("job_pkey", "ALTER TABLE {schema}.job DROP CONSTRAINT job_pkey"),
  CLAIMS_ANSWERED_TWICE("claim_pkey", "ALTER TABLE {schema}.claim DROP CONSTRAINT claim_pkey"),
  ENDS_RECORDED_TWICE("attempt_pkey", "ALTER TABLE {schema}.attempt DROP CONSTRAINT attempt_pkey"),
  REPORTS_STORED_TWICE(
      "idempotency_pkey", "ALTER TABLE {schema}.idempotency DROP CONSTRAINT idempotency_pkey"),
  ITEMS_STORED_TWICE(
      "job_item_pkey", "ALTER TABLE {schema}.job_item DROP CONSTRAINT job_item_pkey"),
  FENCES_BEGIN_ANEW("fence", "ALTER SEQUENCE {schema}.fence RESTART WITH 1 MAXVALUE 3 CYCLE"),

  // Second guards: whoever takes a slot has locked its schedule and looked, no two grants have the
  // same fence, and a slot's job has a new id.
  SLOTS_TAKEN_TWICE(
      "slot_is_taken_once", "ALTER TABLE {schema}.slot DROP CONSTRAINT slot_is_taken_once"),
  HELD_TWICE("hold_pkey", "ALTER TABLE {schema}.hold DROP CONSTRAINT hold_pkey"),
  TWO_SLOTS_OF_ONE_JOB("slot_job", "DROP INDEX {schema}.slot_job");

  // The server refuses a statement that names what is not there, which would show nothing.
  private static final String NAMES_ITS_KEY = "ON CONFLICT \\(claim_id\\)";
  private static final String NAMES_NONE = "ON CONFLICT";

  private final String guard;
  private final String ddl;

  PlantedHole(String guard, String ddl) {
    this.guard = guard;
    this.ddl = ddl;
  }

  /** What is dropped or spoiled. */
  String guard() {
    return guard;
  }

  boolean isHarmless() {
    return this == SLOTS_TAKEN_TWICE || this == HELD_TWICE || this == TWO_SLOTS_OF_ONE_JOB;
  }

  Tampering tampering() {
    return Tampering.with(
        sql -> this == CLAIMS_ANSWERED_TWICE ? sql.replaceAll(NAMES_ITS_KEY, NAMES_NONE) : sql,
        List.of(ddl));
  }
}
