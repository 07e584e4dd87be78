package dev.holdfast.model;

import java.util.List;

/** The engine and the model are not of one mind. */
final class Disagreement extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String brief;

  Disagreement(Command command, List<String> complaints) {
    super("after " + command + ":\n  " + String.join("\n  ", complaints));
    brief = command.type() + ": " + complaints.getFirst();
  }

  /** After what sort of command, and the first that is wrong then. */
  String brief() {
    return brief;
  }
}
