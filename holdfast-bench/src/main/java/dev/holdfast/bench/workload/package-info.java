/** The workloads, each written once for all contenders. */
@NullMarked
package dev.holdfast.bench.workload;

import org.jspecify.annotations.NullMarked;
