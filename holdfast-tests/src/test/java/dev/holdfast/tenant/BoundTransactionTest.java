package dev.holdfast.tenant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.NewJob;
import dev.holdfast.queue.Jobs;
import dev.holdfast.rig.BoundDataSource;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Frameworks bind a transaction to a thread, and hand its connection to whoever asks for one. */
class BoundTransactionTest {

  private static final NewJob JOB = NewJob.of("email", 1);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final BoundDataSource bound = new BoundDataSource(TestDatabase.shared().dataSource());

  @BeforeEach
  void makeATableOfTheApplications() {
    tenant.execute("CREATE TABLE {schema}.orders (number integer)");
  }

  static Stream<Consumer<Jobs>> ways() {
    return Stream.of(
        jobs -> jobs.enqueue(JOB),
        jobs -> jobs.enqueue(JOB.withUniqueKey("k")),
        jobs -> jobs.enqueue(JOB.withTags("t")),
        jobs -> jobs.enqueueAll(List.of(JOB, JOB)),
        jobs -> jobs.get(UUID.randomUUID()),
        jobs -> jobs.enqueue(NewJob.of("another", 1)));
  }

  @ParameterizedTest
  @MethodSource("ways")
  void what_we_do_for_ourselves_never_ends_the_transaction_that_a_thread_is_in(Consumer<Jobs> way)
      throws SQLException {
    Jobs jobs = jobs(bound);
    bound.rollBackAfter(transaction -> {
      order(transaction);

      refused(() -> way.accept(jobs));

      assertThat(transaction.getAutoCommit()).isFalse();
    });

    assertThat(rows("orders")).isEmpty();
    assertThat(rows("job")).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("ways")
  void nor_does_it_when_nothing_was_done_in_that_yet(Consumer<Jobs> way) throws SQLException {
    Jobs jobs = jobs(bound);
    bound.rollBackAfter(transaction -> {
      refused(() -> way.accept(jobs));
      order(transaction);
    });

    assertThat(rows("orders")).isEmpty();
    assertThat(rows("job")).isEmpty();
  }

  @Test
  void a_job_that_is_enqueued_on_the_transactions_connection_shares_its_end() throws SQLException {
    Jobs jobs = jobs(bound);
    jobs.enqueue(JOB);

    bound.rollBackAfter(
        transaction -> assertThat(jobs.enqueue(transaction, JOB).created()).isTrue());

    assertThat(rows("job")).hasSize(1);
  }

  @Test
  void where_no_connection_commits_by_itself_a_transaction_is_still_told_by_what_it_did()
      throws SQLException {
    try (HikariDataSource pool = committingWhenTold()) {
      BoundDataSource untold = new BoundDataSource(pool);
      Jobs jobs = jobs(untold);
      jobs.enqueue(JOB);

      untold.rollBackAfter(transaction -> {
        jobs.enqueue(JOB);
        assertThat(transaction.getAutoCommit()).isFalse();
        order(transaction);
        refused(() -> jobs.enqueue(JOB));
      });

      assertThat(rows("orders")).isEmpty();
      assertThat(rows("job")).hasSize(2);
    }
  }

  @Test
  void a_connection_that_its_pool_has_asked_something_is_not_a_transaction_of_somebodys() {
    PGSimpleDataSource pool = new Asking();
    pool.setUrl(TestDatabase.shared().jdbcUrl());

    Holdfast.on(pool).jobs(tenant.name()).enqueue(JOB);

    assertThat(rows("job")).hasSize(1);
  }

  /** As some pools do to see whether a connection lives, and leave the transaction open. */
  private static final class Asking extends PGSimpleDataSource {
    private static final long serialVersionUID = 1L;

    @Override
    public Connection getConnection() throws SQLException {
      Connection connection = super.getConnection();
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.execute("SELECT 1");
      }
      return connection;
    }
  }

  private Jobs jobs(BoundDataSource source) {
    return Holdfast.on(source.dataSource()).jobs(tenant.name());
  }

  private static HikariDataSource committingWhenTold() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(TestDatabase.shared().jdbcUrl());
    config.setMaximumPoolSize(4);
    config.setAutoCommit(false);
    return new HikariDataSource(config);
  }

  private static void refused(Runnable attempt) {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(attempt::run)
        .withMessageContaining("enqueue(connection, job)")
        .withMessageContaining("DataSource")
        .satisfies(refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.BAD_CONFIG));
  }

  private void order(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(tenant.tenant().db().sql("INSERT INTO {schema}.orders VALUES (1)"));
    }
  }

  private List<Map<String, Object>> rows(String table) {
    return tenant.query("SELECT FROM {schema}." + table);
  }
}
