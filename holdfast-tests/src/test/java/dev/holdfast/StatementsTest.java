package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.fleet.Predecessors;
import dev.holdfast.fleet.Presence;
import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.fleet.Workers;
import dev.holdfast.reap.Outages;
import dev.holdfast.server.auth.Sessions;
import dev.holdfast.server.auth.Tokens;
import dev.holdfast.server.dialect.pull.Signatures;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Namesakes;
import dev.holdfast.tenant.Tenants;
import dev.holdfast.testkit.TestTenant;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class StatementsTest {

  // Their tables are in the control schema; everybody else's are in a tenant's.
  private static final Set<Class<?>> OF_CONTROL =
      Set.of(
          Tenants.class,
          Namesakes.class,
          Presence.class,
          Predecessors.class,
          RemoteWorkers.class,
          Workers.class,
          Tokens.class,
          Sessions.class,
          Signatures.class,
          Outages.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void every_statement_fits_the_tables_it_names() {
    List<CoreStatement> statements =
        CoreStatement.all().stream().filter(statement -> !statement.isDdl()).toList();

    Map<CoreStatement, String> refused =
        tenant.tenant().db().jdbi().withHandle(handle -> refused(handle, statements));

    assertThat(refused).isEmpty();
    assertThat(statements)
        .as("statements found; with far fewer, this test looks in the wrong place")
        .hasSizeGreaterThanOrEqualTo(15);
  }

  private Map<CoreStatement, String> refused(Handle handle, List<CoreStatement> statements) {
    Map<CoreStatement, String> refused = new LinkedHashMap<>();
    for (CoreStatement core : statements) {
      try { // in one transaction, or a pooler could give each another session
        handle.useTransaction(own -> {
          try (Statement statement = own.getConnection().createStatement()) {
            statement.execute(dbOf(core).sql(core.prepare("fits")));
            statement.execute("DEALLOCATE fits");
          }
        });
      } catch (SQLException e) {
        refused.put(core, e.getMessage());
      }
    }
    return refused;
  }

  private Db dbOf(CoreStatement statement) {
    return OF_CONTROL.contains(statement.owner())
        ? tenant.holdfast().tenants().control()
        : tenant.tenant().db();
  }
}
