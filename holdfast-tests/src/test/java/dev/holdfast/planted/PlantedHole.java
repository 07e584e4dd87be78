package dev.holdfast.planted;

/** A guard that stands in the tables and not in a statement: it is dropped from the tenant. */
enum PlantedHole {
  NO_UNIQUE_KEYS("DROP INDEX {schema}.job_unique_key"),
  SLOTS_TAKEN_TWICE("ALTER TABLE {schema}.slot DROP CONSTRAINT slot_is_taken_once"),
  ITEMS_STORED_TWICE("ALTER TABLE {schema}.job_item DROP CONSTRAINT job_item_pkey"),
  FENCES_BEGIN_ANEW("ALTER SEQUENCE {schema}.fence MAXVALUE 3 CYCLE");

  private final String ddl;

  PlantedHole(String ddl) {
    this.ddl = ddl;
  }

  String ddl() {
    return ddl;
  }
}
