package dev.holdfast.bench;

import dev.holdfast.bench.workload.Blocked;
import dev.holdfast.bench.workload.Drain;
import dev.holdfast.bench.workload.Enqueue;
import dev.holdfast.bench.workload.ForkedDrain;
import dev.holdfast.bench.workload.Growth;
import dev.holdfast.bench.workload.HeldSnapshot;
import dev.holdfast.bench.workload.Idle;
import dev.holdfast.bench.workload.Keyed;
import dev.holdfast.bench.workload.Latency;
import dev.holdfast.bench.workload.ManyTenants;
import dev.holdfast.bench.workload.Pages;
import dev.holdfast.bench.workload.Polling;
import dev.holdfast.bench.workload.Remote;
import dev.holdfast.bench.workload.Sustained;
import dev.holdfast.bench.workload.WalkOver;
import dev.holdfast.bench.workload.Workload;
import java.util.Set;

/** The workloads as docs/performance.md numbers them. */
enum WorkloadName {
  W1,
  W1M,
  W2,
  W3,
  W4,
  W5,
  W6,
  W7,
  W8,
  W9,
  W10,
  W11,
  W12,
  W13,
  UI;

  Workload workload(int concurrency) {
    return switch (this) {
      case W1 -> new Drain();
      case W1M -> new ForkedDrain(concurrency);
      case W2 -> new Enqueue();
      case W3 -> new Latency();
      case W4 -> new Sustained();
      case W5 -> new Keyed();
      case W6 -> new Growth();
      case W7 -> new Idle();
      case W8 -> new Blocked();
      case W9 -> new HeldSnapshot();
      case W10 -> new Remote();
      case W11 -> new ManyTenants();
      case W12 -> new WalkOver();
      case W13 -> new Polling();
      case UI -> new Pages();
    };
  }

  /** Those that are to run first, uncounted, so that the code of this one is compiled. */
  Set<WorkloadName> warmedBy() {
    return switch (this) {
      case W5 -> Set.of(W5);
      case W8 -> Set.of(W1, W5);
      case W1, W1M, W2, W3, W4, W6, W7, W9, W10, W11, W12, W13, UI -> Set.of(W1);
    };
  }
}
