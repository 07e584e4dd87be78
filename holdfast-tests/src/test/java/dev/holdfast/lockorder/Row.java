package dev.holdfast.lockorder;

/**
 * A row that is locked, or made.
 *
 * @param take waits until nobody else has it, and has it then until the end of the transaction
 * @param ask the same, but fails soon, for want of the lock, when somebody has it
 */
record Row(String name, String take, String ask) {

  static Row of(String table, String column, Object value) {
    String lock =
        "SELECT FROM {schema}.%s WHERE %s = '%s' FOR UPDATE".formatted(table, column, value);
    return new Row(value.toString(), lock, lock + " NOWAIT");
  }

  /**
   * One that is not there yet. Whoever makes it at the same time waits; but the engine, which would
   * have to give way first, is waiting itself, so that no time is too short.
   */
  static Row made(String name, String insert) {
    return new Row(name, insert, "SET LOCAL lock_timeout = 50; " + insert);
  }
}
