package dev.holdfast.fault;

/** What goes wrong with a connection, by the SQLSTATE that its user sees. */
enum Fault {
  SERIALIZATION_FAILURE("40001"),
  DEADLOCK("40P01"),
  READ_ONLY("25006"),
  CONNECTION_LOST("08006");

  private final String state;

  Fault(String state) {
    this.state = state;
  }

  String state() {
    return state;
  }

  /** The server says so and takes back what the transaction did; the connection stays. */
  boolean isSaidByTheServer() {
    return this != CONNECTION_LOST;
  }
}
