package dev.holdfast.lease;

import dev.holdfast.job.Outcome;

/** An attempt that ended, to be recorded. */
public record Finish(Lease lease, Outcome outcome) {}
