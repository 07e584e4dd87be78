package dev.holdfast.doctor;

import dev.holdfast.tenant.SchemaVersion;
import dev.holdfast.tenant.Tenants;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Checks that this version can work with the tables. */
final class SchemaVersions implements Check {

  private final Tenants tenants;

  SchemaVersions(Tenants tenants) {
    this.tenants = tenants;
  }

  @Override
  public String name() {
    return "tables";
  }

  @Override
  public Finding look() {
    List<SchemaVersion> versions = tenants.versions();
    if (versions.stream().anyMatch(SchemaVersion::isBroken)) {
      return Finding.fail(
          this, list(versions, SchemaVersion::isBroken), "upgrade this Holdfast: it is too old");
    }
    if (versions.stream().anyMatch(SchemaVersion::isBehind)) {
      return Finding.fail(this, list(versions, SchemaVersion::isBehind), "run holdfast migrate");
    }
    if (versions.stream().anyMatch(SchemaVersion::isNewer)) {
      return Finding.warn(
          this,
          list(versions, SchemaVersion::isNewer),
          "finish the upgrade: a newer Holdfast made these, and this one can work with them");
    }
    return Finding.ok(this, "%d schemas are this version's".formatted(versions.size()));
  }

  private static String list(List<SchemaVersion> versions, Predicate<SchemaVersion> which) {
    return versions.stream()
        .filter(which)
        .limit(5)
        .map(version ->
            "%s is at %d, this Holdfast knows %d"
                .formatted(version.schema().value(), version.applied(), version.known()))
        .collect(Collectors.joining("; "));
  }
}
