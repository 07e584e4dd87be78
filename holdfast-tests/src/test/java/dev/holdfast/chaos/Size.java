package dev.holdfast.chaos;

import dev.holdfast.chaos.nemesis.Blow;
import dev.holdfast.chaos.nemesis.Nemesis;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * How much a run has to do.
 *
 * @param blows that are dealt
 * @param isPartial only some of them, to see that a certain fault is found: no more is demanded
 * @param isLong also the database is crashed, and what is demanded grows with the jobs
 */
record Size(
    int jobs, Duration atLeast, Set<Blow> blows, boolean isPartial, boolean isLong, long seed) {

  private static final String PREFIX = "holdfast.chaos.";
  private static final int COMMIT_JOBS = 10_000;
  private static final int MANY_JOBS = 50_000;
  private static final int FEW = 3;
  private static final int KILLS = 30;
  private static final int SOME_FREEZES = 12;
  private static final int FEW_EXCUSED = 15;

  static Size ofProperties() {
    String minutes = System.getProperty(PREFIX + "minutes");
    String some = System.getProperty(PREFIX + "blows");
    int jobs = Integer.getInteger(PREFIX + "jobs", COMMIT_JOBS);
    boolean isLong = some == null && (minutes != null || jobs >= MANY_JOBS);
    Set<Blow> blows = EnumSet.allOf(Blow.class);
    if (some != null) {
      blows =
          Arrays.stream(some.split(",")).map(Blow::valueOf).collect(Collectors.toUnmodifiableSet());
    } else if (!isLong) {
      blows.remove(Blow.CRASH_DATABASE); // others on it would suffer
    }
    double atLeast = minutes == null ? (some == null ? 1.5 : 0.5) : Double.parseDouble(minutes);
    return new Size(
        jobs,
        Duration.ofMillis((long) (atLeast * 60_000)),
        blows,
        some != null,
        isLong,
        Long.getLong(PREFIX + "seed", 20_261_116L));
  }

  /** The same with as many jobs as there were, if those are more. */
  Size grownTo(int done) {
    return new Size(Math.max(jobs, done), atLeast, blows, isPartial, isLong, seed);
  }

  /** What there has to be of a blow. */
  long floor(Blow blow) {
    if (!blows.contains(blow)) {
      return 0;
    }
    if (isPartial) {
      return blow == Blow.FREEZE ? SOME_FREEZES : FEW;
    }
    return switch (blow) {
      case KILL -> growing(KILLS, 300);
      case FREEZE -> growing(FEW, 1_000);
      case TERMINATE -> FEW;
      default -> 1;
    };
  }

  /** A floor; in a long run one for so many jobs, if that is more. */
  long growing(long least, int jobsForEach) {
    return isLong ? Math.max(least, jobs / jobsForEach) : least;
  }

  /** Of so many jobs that were to fail, how many may count as ended though nobody saw it. */
  long excusable(long doomed) {
    return Math.max(FEW_EXCUSED, doomed / 10);
  }

  /** Less would not show much. What grows is not waited for, but demanded in the end. */
  boolean isEnough(int done, Nemesis nemesis) {
    return done >= jobs
        && blows.stream().allMatch(blow -> nemesis.dealt(blow) >= Math.min(floor(blow), KILLS));
  }
}
