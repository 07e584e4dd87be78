package dev.holdfast.doctor;

import dev.holdfast.invariant.Invariants;
import dev.holdfast.invariant.Violation;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import java.util.ArrayList;
import java.util.List;

/** Checks the invariants of all tenants. */
final class InvariantsHold implements Check {

  private static final int SHOWN = 3;

  private final Tenants tenants;

  InvariantsHold(Tenants tenants) {
    this.tenants = tenants;
  }

  @Override
  public String name() {
    return "invariants";
  }

  @Override
  public Finding look() {
    List<String> violations = new ArrayList<>();
    List<TenantName> all = tenants.list();
    for (TenantName name : all) {
      for (Violation violation : new Invariants(tenants.tenant(name)).check()) {
        violations.add("%s %s: %s".formatted(name, violation.id(), violation.detail()));
      }
    }
    return violations.isEmpty()
        ? Finding.ok(this, "all hold, in %d tenants".formatted(all.size()))
        : Finding.fail(
            this,
            "%d broken, such as %s"
                .formatted(
                    violations.size(),
                    String.join("; ", violations.subList(0, Math.min(SHOWN, violations.size())))),
            "holdfast invariants check lists them; docs/invariants.md says what they mean");
  }
}
