package dev.holdfast.planted;

/** What came of taking a guard away. */
sealed interface Seen {

  /** A rig saw what comes of it. */
  record Effect(String by, String how) implements Seen {}

  /** All that was seen is that the guard is not there. */
  record Absence(String how) implements Seen {}

  record Nothing() implements Seen {}

  /** It cannot be told: what was done does not work, or something else is wrong. */
  record Broken(String why) implements Seen {}
}
