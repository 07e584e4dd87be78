package dev.holdfast.fault;

/** On which side of a statement or commit something goes wrong. */
public enum Moment {
  BEFORE,
  AFTER
}
