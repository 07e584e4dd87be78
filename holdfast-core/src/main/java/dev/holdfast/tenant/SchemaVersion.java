package dev.holdfast.tenant;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;

/**
 * The version of a schema's tables, and the one that this Holdfast knows.
 *
 * @param applied the last migration that was applied; 0 if there is none
 * @param breaking the last applied migration that earlier versions cannot work with; 0 if there is
 *     none
 * @param known how many migrations this version knows
 */
public record SchemaVersion(SchemaName schema, int applied, int breaking, int known) {

  /** Whether migrations that this version needs are missing. */
  public boolean isBehind() {
    return applied < known;
  }

  /** Whether a later version has changed the tables, be it without breaking anything. */
  public boolean isNewer() {
    return applied > known;
  }

  /** Whether a later version has changed the tables so that this one cannot work with them. */
  public boolean isBroken() {
    return breaking > known;
  }

  /**
   * Throws, naming the remedy, unless this version can work with the tables: they are its own, or a
   * later version's that broke nothing. So nodes of two versions can run side by side during an
   * upgrade.
   */
  void require() {
    refuseBroken();
    if (isBehind()) {
      throw new HoldfastException(
          ErrorCode.SCHEMA_MISMATCH,
          "schema %s is at version %d, this Holdfast needs %d; run migrate() first"
              .formatted(schema.value(), applied, known));
    }
  }

  void refuseBroken() {
    if (isBroken()) {
      throw new HoldfastException(
          ErrorCode.SCHEMA_MISMATCH,
          "schema %s was changed by version %d, which this Holdfast does not know (it knows %d); upgrade Holdfast"
              .formatted(schema.value(), breaking, known));
    }
  }
}
