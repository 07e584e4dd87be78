package dev.holdfast.doctor;

/** A check of one thing. It only reads, and changes nothing. */
public interface Check {

  /** What is checked, in a word or two. */
  String name();

  Finding look();
}
