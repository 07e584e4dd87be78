package dev.holdfast.planted;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The test class that must notice a patch.
 *
 * @param methods those of its tests of which some must fail, and no others may
 * @param properties what it is told, so that it does no more than it must
 * @param hangs that it does not end is what must come of the patch
 */
record Trial(
    String test, List<String> methods, List<String> properties, boolean hangs, Duration limit) {

  // Of a run that deals only some blows nothing but these is demanded, so that it may be short.
  private static final String ENOUGH_CHAOS =
      "-Dholdfast.chaos.jobs=2000 -Dholdfast.chaos.blows=KILL,FREEZE,HOLD_WORKERS_FROM_SERVER,"
          + "HOLD_WORKERS_FROM_DATABASE";

  /** A test that failed, and by what. */
  record Failure(String method, String exception, String message) {

    // Ours wait for what must come, some of them without an end of their own; JUnit has one.
    boolean neverEnded() {
      return exception.endsWith(".TimeoutException");
    }

    boolean saysTooLittleHappened() {
      return message.contains("reached too rarely") || message.contains("did not do");
    }

    String shown() {
      return method.replace('_', ' ') + (neverEnded() ? ", which never ends" : "");
    }
  }

  /** How it went. */
  record Run(boolean ended, List<Failure> failures) {}

  static Trial of(String test, String... methods) {
    return new Trial(
        "dev.holdfast." + test, List.of(methods), List.of(), false, Duration.ofMinutes(10));
  }

  /** One operation of the fault points. */
  static Trial ofFaults(String operation) {
    return of(
            "fault.FaultPointsTest",
            "whatever_fails_and_wherever_an_operation_is_done_or_not_and_can_be_repeated")
        .told("-Dholdfast.faults.only=" + operation);
  }

  static Trial ofModel() {
    return of("model.ModelTest", "the_engine_does_what_the_model_says")
        .told("-Dholdfast.model.commands=4000", "-Dholdfast.model.replays=0");
  }

  /** As much chaos as it takes; {@code ./holdfast prove planted --chaos} says how much that is. */
  static Trial ofChaos() {
    String told = System.getProperty("holdfast.planted.chaos", ENOUGH_CHAOS);
    Trial trial =
        of(
                "chaos.ChaosTest",
                "whatever_happens_to_them_no_job_is_lost_and_none_acts_under_a_stale_fence")
            .told(told.strip().split("\\s+"));
    return trial.within(Duration.ofMinutes(60));
  }

  Trial told(String... more) {
    return new Trial(
        test, methods, Stream.concat(properties.stream(), Stream.of(more)).toList(), hangs, limit);
  }

  Trial hanging() {
    return new Trial(test, methods, properties, true, limit);
  }

  Trial within(Duration most) {
    return new Trial(test, methods, properties, hangs, most);
  }

  String name() {
    return test.substring(test.lastIndexOf('.') + 1);
  }

  /** What a run against the patched engine shows. */
  Seen judge(Run run) {
    List<Failure> others =
        run.failures.stream().filter(failure -> !methods.contains(failure.method)).toList();
    if (!others.isEmpty()) {
      return new Seen.Broken("others fail: " + shown(others));
    }
    if (!run.ended) {
      return hangs
          ? new Seen.Effect(name(), "it never ends, as is to be expected")
          : new Seen.Broken("it never ends");
    }
    if (run.failures.isEmpty()) {
      return new Seen.Nothing();
    }
    if (run.failures.stream().anyMatch(Failure::saysTooLittleHappened)) {
      return new Seen.Broken("too little happened: " + run.failures.getFirst().message);
    }
    return hangs || !run.failures.stream().allMatch(Failure::neverEnded)
        ? new Seen.Effect(name(), shown(run.failures))
        : new Seen.Broken("it never ends: " + shown(run.failures));
  }

  private static String shown(List<Failure> failures) {
    return failures.stream().map(Failure::shown).distinct().collect(Collectors.joining("; "));
  }
}
