package dev.holdfast;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A statement as it stands in the engine or the server: a {@code private static final String} with
 * {@code {schema}} in it. Tests find them by reflection, so that they speak of the SQL that really
 * runs.
 */
public record CoreStatement(Class<?> owner, String name, String sql) {

  // One colon; two are a cast.
  private static final Pattern PARAMETER = Pattern.compile("(?<!:):([a-z_]+)");

  // What Java binds, where the server could not tell by itself or would tell otherwise.
  private static final Map<String, String> TYPES =
      Map.ofEntries(
          Map.entry("slots", "timestamptz[]"),
          Map.entry("reasons", "text[]"),
          Map.entry("statuses", "text[]"),
          Map.entry("actor", "text"),
          Map.entry("any_kind", "boolean"),
          Map.entry("asked_lease_ms", "bigint"),
          Map.entry("at_lanes", "bigint[]"),
          Map.entry("at_run_ats", "timestamptz[]"),
          Map.entry("lanes", "bigint[]"),
          Map.entry("seqs", "bigint[]"),
          Map.entry("at_seqs", "bigint[]"),
          Map.entry("default_timeout_ms", "bigint"),
          Map.entry("delay_ms", "bigint"),
          Map.entry("lane", "bigint"),
          Map.entry("now", "boolean"),
          Map.entry("run_at", "timestamptz"),
          Map.entry("delays_ms", "bigint[]"),
          Map.entry("capacity", "integer"),
          Map.entry("error_code", "text"),
          Map.entry("error_message", "text"),
          Map.entry("before", "timestamptz"),
          Map.entry("dead", "uuid[]"),
          Map.entry("expiries", "timestamptz[]"),
          Map.entry("from_page", "bigint"),
          Map.entry("infos", "text[]"),
          Map.entry("items", "text[]"),
          Map.entry("key", "text"),
          Map.entry("keys", "text[]"),
          Map.entry("to_page", "bigint"),
          Map.entry("succeeded_seconds", "integer"),
          Map.entry("failed_seconds", "integer"),
          Map.entry("logs_seconds", "integer"),
          Map.entry("slots_seconds", "integer"),
          Map.entry("workers", "text[]"),
          Map.entry("gots", "boolean[]"),
          Map.entry("grace_ms", "bigint"),
          Map.entry("grant", "integer"),
          Map.entry("names", "text[]"),
          Map.entry("patience_ms", "bigint"),
          Map.entry("resources", "text[]"),
          Map.entry("stop_as", "text"),
          Map.entry("to", "text"),
          Map.entry("error_codes", "text[]"),
          Map.entry("error_messages", "text[]"),
          Map.entry("failures", "integer[]"),
          Map.entry("fences", "bigint[]"),
          Map.entry("job_ids", "uuid[]"),
          Map.entry("kinds", "text[]"),
          Map.entry("labels", "text[]"),
          Map.entry("lease_ms", "bigint"),
          Map.entry("limit", "integer"),
          Map.entry("lines", "text[]"),
          Map.entry("log_excerpts", "text[]"),
          Map.entry("online_hosts", "text[]"),
          Map.entry("outcomes", "text[]"),
          Map.entry("priority", "integer"),
          Map.entry("queues", "text[]"),
          Map.entry("refunds", "integer[]"),
          Map.entry("results", "text[]"),
          Map.entry("states", "text[]"),
          Map.entry("path", "text[]"),
          Map.entry("events", "text[]"),
          Map.entry("value", "bigint"),
          Map.entry("tags", "text[]"));

  public static List<CoreStatement> all() {
    return new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location ->
                location.contains("holdfast-core") || location.contains("holdfast-server"))
            .importPackages("dev.holdfast")
            .stream()
            // It has no SQL, and cannot be loaded without the optional Micrometer.
            .filter(found -> !found.getPackageName().equals("dev.holdfast.metrics"))
            .map(JavaClass::reflect)
            .flatMap(CoreStatement::of)
            .toList();
  }

  public static CoreStatement named(Class<?> owner, String name) {
    return of(owner)
        .filter(statement -> statement.name.equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no statement " + name + " in " + owner));
  }

  /** For owners that other packages cannot name. */
  public static CoreStatement named(String owner, String name) {
    try {
      return named(Class.forName(owner), name);
    } catch (ClassNotFoundException e) {
      throw new AssertionError(e);
    }
  }

  private static Stream<CoreStatement> of(Class<?> owner) {
    return Arrays.stream(owner.getDeclaredFields())
        .filter(field -> field.getType() == String.class)
        .filter(field -> Modifier.isStatic(field.getModifiers()))
        .map(field -> new CoreStatement(owner, field.getName(), value(field)))
        .filter(statement -> statement.sql.contains("{schema}"));
  }

  private static String value(Field field) {
    try {
      field.setAccessible(true);
      return (String) field.get(null);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  public boolean isDdl() {
    return sql.startsWith("CREATE");
  }

  /** The names of the parameters, one for each place, as JDBC numbers them. */
  public List<String> parameters() {
    return PARAMETER.matcher(sql).results().map(found -> found.group(1)).toList();
  }

  /** {@code PREPARE plan (types) AS ...}, still with {@code {schema}} in it. */
  public String prepare(String plan) {
    List<String> parameters = parameters();
    String types =
        parameters.stream()
            .map(name -> TYPES.getOrDefault(name, "unknown"))
            .collect(Collectors.joining(", ", " (", ")"));
    return "PREPARE " + plan + (parameters.isEmpty() ? "" : types) + " AS " + preparable();
  }

  // COPY cannot be prepared; an insert of the same columns into the same table can.
  private String preparable() {
    return sql.startsWith("COPY")
        ? sql.replaceFirst(
            "(?s)COPY (\\S+) \\((.+)\\) FROM STDIN", "INSERT INTO $1 ($2) SELECT $2 FROM $1")
        : numbered();
  }

  private String numbered() {
    StringBuilder text = new StringBuilder();
    Matcher matcher = PARAMETER.matcher(sql);
    int number = 0;
    int end = 0;
    for (MatchResult found : (Iterable<MatchResult>) matcher.results()::iterator) {
      text.append(sql, end, found.start()).append('$').append(++number);
      end = found.end();
    }
    return text.append(sql, end, sql.length()).toString();
  }

  @Override
  public String toString() {
    return owner.getSimpleName() + "." + name;
  }
}
