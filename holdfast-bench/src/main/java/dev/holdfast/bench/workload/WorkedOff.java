package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.measure.OverTime;

/** How one worker got on with the jobs it found. */
record WorkedOff(double jobsPerSecond, OverTime rates) {

  /** Answers once it is certain that each of the jobs 0 to n-1 ran once; others may have run. */
  static WorkedOff by(JobQueue queue, int jobs) throws Exception {
    CountedWork work = new CountedWork(jobs);
    Curve curve;
    try (AutoCloseable worker = queue.work(work);
        Curve watched = Curve.of(work::finished)) {
      work.await();
      curve = watched;
    }
    work.checkEachRanOnce();
    return new WorkedOff(work.jobsPerSecond(), curve.overTime());
  }
}
