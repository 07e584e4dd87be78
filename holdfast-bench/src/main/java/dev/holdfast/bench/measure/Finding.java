package dev.holdfast.bench.measure;

/** What came out of one run of a workload for one contender, in one row of the table. */
public sealed interface Finding permits Sample, NotApplicable {

  /** What was to be measured, the same for all contenders and repeats. */
  String row();
}
