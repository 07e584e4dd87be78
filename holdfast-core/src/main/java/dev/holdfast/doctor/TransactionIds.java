package dev.holdfast.doctor;

import dev.holdfast.tenant.Db;

/**
 * Checks how many transactions ago the oldest row was frozen; at two billion the database stops.
 */
final class TransactionIds implements Check {

  private static final long HIGH = 500_000_000;
  private static final long TOO_HIGH = 1_500_000_000;

  private static final String AGE =
      """
      SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database()
      """;

  private final Db db;

  TransactionIds(Db db) {
    this.db = db;
  }

  @Override
  public String name() {
    return "transaction ids";
  }

  @Override
  public Finding look() {
    return judged(db.withHandle(handle -> handle.createQuery(AGE).mapTo(Long.class).one()));
  }

  Finding judged(long age) {
    String detail = "the oldest is %,d transactions old".formatted(age);
    String remedy = "see what keeps autovacuum from freezing rows; VACUUM FREEZE";
    if (age > TOO_HIGH) {
      return Finding.fail(this, detail, remedy);
    }
    return age > HIGH ? Finding.warn(this, detail, remedy) : Finding.ok(this, detail);
  }
}
