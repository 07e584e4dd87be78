package dev.holdfast.fault;

/** What goes wrong with a connection, by the SQLSTATE that its user sees. */
public enum Fault {
  SERIALIZATION_FAILURE("40001"),
  DEADLOCK("40P01"),
  READ_ONLY("25006"),
  CONNECTION_LOST("08006"),
  /** The server ends the session, as an administrator can have it do. */
  ADMIN_SHUTDOWN("57P01"),
  /** There is none to be had. */
  TOO_MANY_CONNECTIONS("53300");

  private final String state;

  Fault(String state) {
    this.state = state;
  }

  String state() {
    return state;
  }

  /** The server says so and takes back what the transaction did; the connection stays. */
  boolean isSaidByTheServer() {
    return switch (this) {
      case SERIALIZATION_FAILURE, DEADLOCK, READ_ONLY -> true;
      case CONNECTION_LOST, ADMIN_SHUTDOWN, TOO_MANY_CONNECTIONS -> false;
    };
  }

  /** The connection is gone, and with it whether what was under way is done. */
  boolean endsConnection() {
    return this == CONNECTION_LOST || this == ADMIN_SHUTDOWN;
  }
}
