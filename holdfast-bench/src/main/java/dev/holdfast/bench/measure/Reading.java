package dev.holdfast.bench.measure;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;

/** All the meters at one moment. The difference of two is what happened between them. */
public record Reading(
    long nanos,
    long clientCpuNanos,
    long databaseCpuNanos,
    long walBytes,
    long transactions,
    long deadRows,
    long peakHeapBytes) {

  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  /** Of the peak heap, the next reading tells what came after this one. */
  public static Reading take(Server server) {
    long peak = takePeakHeap();
    return new Reading(
        System.nanoTime(),
        SYSTEM.getProcessCpuTime(),
        server.cpuNanos(),
        server.askNumber("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"),
        transactions(server),
        deadRows(server),
        peak);
  }

  public Reading minus(Reading earlier) {
    return new Reading(
        nanos - earlier.nanos,
        clientCpuNanos - earlier.clientCpuNanos,
        databaseCpuNanos - earlier.databaseCpuNanos,
        walBytes - earlier.walBytes,
        transactions - earlier.transactions,
        deadRows - earlier.deadRows,
        peakHeapBytes);
  }

  /** Sessions tell their counts now and then; those that ended have told all. */
  Reading withCountsOf(Server server) {
    return new Reading(
        nanos,
        clientCpuNanos,
        databaseCpuNanos,
        walBytes,
        transactions(server),
        deadRows(server),
        peakHeapBytes);
  }

  public double seconds() {
    return nanos / 1e9;
  }

  private static long transactions(Server server) {
    return server.askNumber(
        "SELECT sum(xact_commit + xact_rollback)::bigint FROM pg_stat_database");
  }

  /** Of all tables: those of other contenders were vacuumed before, and nobody writes to them. */
  private static long deadRows(Server server) {
    return server.askNumber("SELECT coalesce(sum(n_dead_tup), 0)::bigint FROM pg_stat_user_tables");
  }

  private static long takePeakHeap() {
    long peak = 0;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      if (pool.getType() == MemoryType.HEAP) {
        peak += pool.getPeakUsage().getUsed();
        pool.resetPeakUsage();
      }
    }
    return peak;
  }
}
