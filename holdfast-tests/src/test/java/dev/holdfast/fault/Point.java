package dev.holdfast.fault;

/**
 * Where something can go wrong.
 *
 * @param commits what was done is durable once this is through: a commit, or a statement alone
 */
public record Point(Kind kind, String sql, boolean commits) {

  public enum Kind {
    BORROW,
    STATEMENT,
    COPY,
    COMMIT
  }

  /** Whether this can happen there: getting a connection can only fail to. */
  boolean allows(Moment moment, Fault fault) {
    return kind == Kind.BORROW
        ? moment == Moment.BEFORE
            && (fault == Fault.CONNECTION_LOST || fault == Fault.TOO_MANY_CONNECTIONS)
        : fault != Fault.TOO_MANY_CONNECTIONS;
  }

  @Override
  public String toString() {
    String text = sql.strip().replaceAll("\\s+", " ");
    return kind + (text.isEmpty() ? "" : " " + text.substring(0, Math.min(70, text.length())));
  }
}
