package dev.holdfast.cli;

import dev.holdfast.error.HoldfastException;
import java.util.Arrays;
import java.util.List;

/** The exit codes of commands. */
enum Exit {
  DONE(0, "done"),
  WRONG(1, "it went wrong, or the job did not succeed"),
  USAGE(2, "wrong usage"),
  NO_ANSWER(3, "no answer from the server or its database"),
  NOT_ALLOWED(4, "not allowed"),
  NOT_FOUND(5, "not found"),
  NOT_NOW(6, "not in its present state"),
  REFUSED(7, "refused, and the message says which value"),
  TOO_LATE(124, "jobs wait --timeout: the job is not over yet");

  private final int code;
  private final String meaning;

  Exit(int code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  int code() {
    return code;
  }

  String meaning() {
    return meaning;
  }

  /** The whole table, one line per code. */
  static List<String> table() {
    return Arrays.stream(values())
        .map(exit -> "%3d  %s".formatted(exit.code, exit.meaning))
        .toList();
  }

  static Exit of(Exception error) {
    return error instanceof HoldfastException failure
        ? switch (failure.code()) {
          case UNAVAILABLE, DATABASE -> NO_ANSWER;
          case FORBIDDEN -> NOT_ALLOWED;
          case NOT_FOUND -> Exit.NOT_FOUND;
          case STATE_CONFLICT, LEASE_LOST -> NOT_NOW;
          case INVALID_ARGUMENT, BAD_PAYLOAD -> REFUSED;
          case BAD_CONFIG, UNKNOWN_KIND, SCHEMA_MISMATCH -> WRONG;
        }
        : WRONG;
  }
}
