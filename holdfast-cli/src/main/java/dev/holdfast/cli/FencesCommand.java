package dev.holdfast.cli;

import dev.holdfast.Holdfast;
import dev.holdfast.audit.Act;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.TenantName;
import java.io.PrintWriter;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Raises fences, for operators who have restored their own PostgreSQL. */
@Command(
    name = "fences",
    description = "Fences: the numbers by which stale workers are told.",
    mixinStandardHelpOptions = true)
final class FencesCommand implements Runnable {

  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    spec().commandLine().usage(out());
  }

  @Command(
      name = "raise",
      description = {
        "Takes all tenants' fences past any that the database cannot know of, after it was"
            + " restored",
        "from a backup or a standby was promoted that had not heard of everything.",
        "Run it before servers and workers start."
      },
      mixinStandardHelpOptions = true)
  int raise(
      @Option(
              names = "--database-url",
              defaultValue = "${env:HOLDFAST_DATABASE_URL:-${env:DATABASE_URL}}",
              description = "postgresql://user:password@host:5432/database (or $$DATABASE_URL)")
          @Nullable String databaseUrl,
      @Option(
              names = "--reason",
              defaultValue = "after a restore",
              description = "For the audit. Default: ${DEFAULT-VALUE}")
          String reason) {
    if (databaseUrl == null || databaseUrl.isBlank()) {
      throw HoldfastException.badConfig(
          "--database-url",
          "",
          "a database's address; `holdfast restore` raises those of a server's own by itself");
    }
    PGSimpleDataSource database = new PGSimpleDataSource();
    database.setUrl(DatabaseUrl.parse(databaseUrl).jdbc());
    Map<TenantName, Long> raised =
        Holdfast.on(database).raiseFences(Act.by("holdfast fences raise").because(reason));
    raised.forEach((tenant, fence) -> out().println(line(tenant, fence)));
    out().flush();
    return 0;
  }

  static String line(TenantName tenant, long fence) {
    return "Tenant %s goes on from fence %d".formatted(tenant, fence);
  }

  private PrintWriter out() {
    return spec().commandLine().getOut();
  }

  private CommandSpec spec() {
    if (spec == null) {
      throw new IllegalStateException("not run by picocli");
    }
    return spec;
  }
}
