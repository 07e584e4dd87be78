package dev.holdfast.executor;

/** The exit code of a program that failed. */
record BadExit(int code) {

  // Shells, Java and container engines report the end by a signal as 128 plus its number.
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
