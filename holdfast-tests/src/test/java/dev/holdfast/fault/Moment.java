package dev.holdfast.fault;

/** On which side of a statement or commit something goes wrong. */
enum Moment {
  BEFORE,
  AFTER
}
