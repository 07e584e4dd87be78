package dev.holdfast.executor;

/** The exit code of a program that did not end well. */
record BadExit(int code) {

  // What shells, Java and engines of containers answer for somebody whom a signal ended: 128 and
  // its number.
  private static final int FIRST_SIGNAL = 129;
  private static final int LAST_SIGNAL = 128 + 64;

  String errorCode() {
    return isBySignal() ? "KILLED" : "EXIT_" + code;
  }

  String message() {
    return isBySignal() ? "Ended by signal " + (code - FIRST_SIGNAL + 1) : "Exit code " + code;
  }

  private boolean isBySignal() {
    return code >= FIRST_SIGNAL && code <= LAST_SIGNAL;
  }
}
