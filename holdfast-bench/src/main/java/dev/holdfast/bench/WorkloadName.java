package dev.holdfast.bench;

import dev.holdfast.bench.workload.Drain;
import dev.holdfast.bench.workload.Enqueue;
import dev.holdfast.bench.workload.ForkedDrain;
import dev.holdfast.bench.workload.Growth;
import dev.holdfast.bench.workload.HeldSnapshot;
import dev.holdfast.bench.workload.Idle;
import dev.holdfast.bench.workload.Latency;
import dev.holdfast.bench.workload.Sustained;
import dev.holdfast.bench.workload.WalkOver;
import dev.holdfast.bench.workload.Workload;

/** The workloads as docs/performance.md numbers them. */
enum WorkloadName {
  W1,
  W1M,
  W2,
  W3,
  W4,
  W6,
  W7,
  W9,
  W12;

  Workload workload(int concurrency) {
    return switch (this) {
      case W1 -> new Drain();
      case W1M -> new ForkedDrain(concurrency);
      case W2 -> new Enqueue();
      case W3 -> new Latency();
      case W4 -> new Sustained();
      case W6 -> new Growth();
      case W7 -> new Idle();
      case W9 -> new HeldSnapshot();
      case W12 -> new WalkOver();
    };
  }
}
