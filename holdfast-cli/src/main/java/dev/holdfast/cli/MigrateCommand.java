package dev.holdfast.cli;

import dev.holdfast.Holdfast;
import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.Migrator;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.tenant.TenantName;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.ObjectNode;

/** Creates or upgrades the tables, or prints the statements that would. */
@Command(
    name = "migrate",
    description = "Creates or upgrades Holdfast's tables, or prints the SQL that makes them.",
    mixinStandardHelpOptions = true)
final class MigrateCommand implements Callable<Integer> {

  private static final SchemaName CONTROL = new SchemaName("holdfast");

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--database-url",
      defaultValue = "${env:HOLDFAST_DATABASE_URL:-${env:DATABASE_URL}}",
      description = "postgresql://user:password@host:5432/database (or $DATABASE_URL)")
  private @Nullable String databaseUrl;

  @Option(
      names = "--tenant",
      description = "Also creates these tenants; the default one always is.",
      paramLabel = "NAME")
  private List<String> tenants = new ArrayList<>();

  @Option(
      names = {"-o", "--output"},
      defaultValue = "table",
      description = "table, for people, or json. Default: ${DEFAULT-VALUE}",
      paramLabel = "FORMAT")
  private String output = "";

  @Option(names = "--print", description = "Prints the SQL and touches no database.")
  private boolean print;

  @Option(
      names = "--grant-to",
      description = "Lets this role use the tables at run time (it needs no DDL rights).",
      paramLabel = "ROLE")
  private @Nullable String role;

  @Override
  public Integer call() {
    List<TenantName> names = new ArrayList<>(List.of(TenantName.DEFAULT));
    tenants.stream().map(TenantName::new).filter(name -> !names.contains(name)).forEach(names::add);
    String sql = print ? ddl(names) : migrated(names);
    spec().commandLine().getOut().print(sql);
    spec().commandLine().getOut().flush();
    return 0;
  }

  private String ddl(List<TenantName> names) {
    StringBuilder ddl = new StringBuilder(Migrator.CONTROL.export(CONTROL)).append(grants(CONTROL));
    for (TenantName name : names) {
      SchemaName schema = name.schemaUnder(CONTROL);
      ddl.append('\n').append(Migrator.TENANT.export(schema)).append(grants(schema));
      ddl.append(
          "INSERT INTO %s.tenant (name, schema_name) VALUES ('%s', '%s');%n"
              .formatted(CONTROL.value(), name, schema.value()));
    }
    return ddl.toString();
  }

  private String grants(SchemaName schema) {
    return role == null ? "" : Migrator.grants(schema, new SchemaName(role));
  }

  private String migrated(List<TenantName> names) {
    if (databaseUrl == null || databaseUrl.isBlank()) {
      throw HoldfastException.badConfig(
          "--database-url", "", "a database's address, or --print to see the SQL");
    }
    DatabaseUrl url = DatabaseUrl.parse(databaseUrl);
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(url.jdbc());
    Holdfast holdfast = Holdfast.on(dataSource).migrate();
    names.forEach(holdfast.tenants()::create);
    if (role != null) {
      SchemaName grantee = new SchemaName(role);
      holdfast.tenants().grantTo(grantee);
    }
    if (Remote.Output.of(output) == Remote.Output.JSON) {
      ObjectNode json = Json.object();
      holdfast.tenants().list().forEach(name -> json.withArray("/tenants").add(name.value()));
      return Json.write(json) + System.lineSeparator();
    }
    return "Tables are up to date: tenants %s%n".formatted(holdfast.tenants().list());
  }

  private CommandSpec spec() {
    if (spec == null) {
      throw new IllegalStateException("not run by picocli");
    }
    return spec;
  }
}
