package dev.holdfast.bench.measure;

/** A figure that a contender cannot have, and why. Said aloud, so that nobody looks for it. */
public record NotApplicable(String row, String reason) implements Finding {}
