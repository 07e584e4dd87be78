package dev.holdfast.cli;

import dev.holdfast.Holdfast;
import dev.holdfast.api.FindingJson;
import dev.holdfast.api.Json;
import dev.holdfast.doctor.Check;
import dev.holdfast.doctor.Doctor;
import dev.holdfast.doctor.Finding;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.doctor.DiskSpace;
import dev.holdfast.server.postgres.Access;
import dev.holdfast.server.postgres.EmbeddedPostgres;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Reports what is wrong, or soon will be, and what to do about it. */
@Command(
    name = "doctor",
    description = {
      "Looks at a server and its database, and says what is wrong and what to do about it.",
      "Asks the server, which needs the first token; with --database-url or --data it looks at the",
      "database itself, also when no server runs. Exit code 1 when something fails."
    },
    mixinStandardHelpOptions = true)
final class DoctorCommand implements Callable<Integer> {

  @Spec private @Nullable CommandSpec spec;
  @Mixin private Remote remote = new Remote();

  @Option(
      names = "--database-url",
      defaultValue = "${env:HOLDFAST_DATABASE_URL:-${env:DATABASE_URL}}",
      description = "postgresql://user:password@host:5432/database (or $$DATABASE_URL)")
  private @Nullable String databaseUrl;

  @Option(
      names = "--data",
      description = "The data directory of a server with its own database.",
      paramLabel = "DIR")
  private @Nullable Path data;

  /** A finding for what could not be examined. */
  private record Absent(String name, String detail, String remedy) implements Check {
    @Override
    public Finding look() {
      return Finding.fail(this, detail, remedy);
    }
  }

  @Override
  public Integer call() {
    List<Finding> findings = new ArrayList<>();
    boolean hasUrl = databaseUrl != null && !databaseUrl.isBlank();
    if (hasUrl && databaseUrl != null) {
      PGSimpleDataSource database = new PGSimpleDataSource();
      database.setUrl(DatabaseUrl.parse(databaseUrl).jdbc());
      findings.addAll(examine(database));
    }
    if (data != null) {
      findings.addAll(examine(data));
    }
    if ((!hasUrl && data == null)
        || spec().commandLine().getParseResult().hasMatchedOption("--server")) {
      findings.addAll(askServer());
    }
    print(findings);
    return Finding.worst(findings) == Finding.Level.FAIL ? 1 : 0;
  }

  private static List<Finding> examine(DataSource database) {
    return Holdfast.on(database).doctor(InstantSource.system()).examine();
  }

  private static List<Finding> examine(Path data) {
    List<Finding> findings = new ArrayList<>();
    Optional<Access> running = EmbeddedPostgres.running(data);
    if (running.isPresent()) {
      findings.addAll(examine(running.get().dataSource()));
    } else {
      findings.add(
          new Absent(
                  "database",
                  "no database runs in " + data,
                  "start it with: holdfast server --data " + data)
              .look());
    }
    findings.add(Doctor.examine(new DiskSpace(data)));
    return findings;
  }

  private List<Finding> askServer() {
    try {
      return FindingJson.read(remote.client().ask("GET", "/doctor", Map.of(), Optional.empty()));
    } catch (HoldfastException e) {
      return List.of(
          new Absent(
                  "server",
                  String.valueOf(e.getMessage()),
                  "see that it runs and that the token is a system's, or name the database with"
                      + " --database-url or --data")
              .look());
    }
  }

  private void print(List<Finding> findings) {
    PrintWriter out = spec().commandLine().getOut();
    if (remote.output() == Remote.Output.JSON) {
      out.println(Json.write(FindingJson.write(findings)));
    } else {
      int width = findings.stream().mapToInt(finding -> finding.check().length()).max().orElse(0);
      for (Finding finding : findings) {
        String level = finding.level().name().toLowerCase(Locale.ROOT);
        out.printf("%-4s  %-" + width + "s  %s%n", level, finding.check(), finding.detail());
        finding.remedy().ifPresent(remedy -> out.printf("      → %s%n", remedy));
      }
    }
    out.flush();
  }

  private CommandSpec spec() {
    if (spec == null) {
      throw new IllegalStateException("not run by picocli");
    }
    return spec;
  }
}
