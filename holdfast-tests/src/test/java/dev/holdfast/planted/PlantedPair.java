package dev.holdfast.planted;

import dev.holdfast.rig.Tampering;

/** Two guards of which each is enough: that they are both gone must be seen. */
enum PlantedPair {
  ACTS_NEITHER_LOCK_NOR_COMPARE(PlantedBug.ACTS_LOCK_NO_JOB, PlantedBug.ACTS_COMPARE_NOTHING);

  private final PlantedBug one;
  private final PlantedBug other;

  PlantedPair(PlantedBug one, PlantedBug other) {
    this.one = one;
    this.other = other;
  }

  Tampering tampering() {
    return Tampering.with(sql -> other.apply(one.apply(sql)));
  }
}
