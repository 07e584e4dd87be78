package dev.holdfast.doctor;

/** One thing to look at, and what to make of it. Looks, and changes nothing. */
public interface Check {

  /** What is looked at, in a word or two. */
  String name();

  Finding look();
}
