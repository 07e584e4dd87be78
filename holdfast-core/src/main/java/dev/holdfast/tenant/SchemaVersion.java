package dev.holdfast.tenant;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;

/**
 * How far a schema's tables are, and how far this version of Holdfast would have them.
 *
 * @param applied the last step that was applied; 0 where there is none
 * @param breaking the last one that earlier versions cannot work with; 0 where there is none
 * @param known how many steps this version knows
 */
public record SchemaVersion(SchemaName schema, int applied, int breaking, int known) {

  /** This version needs more than is there. */
  public boolean isBehind() {
    return applied < known;
  }

  /** A later version was here; it may have broken nothing. */
  public boolean isNewer() {
    return applied > known;
  }

  /** A later version was here, and this one cannot work with what it left. */
  public boolean isBroken() {
    return breaking > known;
  }

  /**
   * Fails, naming the remedy, unless this version can work with the tables: they are its own, or a
   * later version's that broke nothing. So nodes of two versions can stand side by side while one
   * takes the other's place.
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
