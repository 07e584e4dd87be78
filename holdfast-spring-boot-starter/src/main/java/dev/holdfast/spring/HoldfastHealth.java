package dev.holdfast.spring;

import dev.holdfast.Holdfast;
import dev.holdfast.tenant.TenantName;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * Up when the database answers and, where this process has a worker that runs, the database has
 * heard of it lately.
 */
final class HoldfastHealth extends AbstractHealthIndicator {

  // A name may be several processes' by mistake; that many, hardly.
  private static final int MOST_OF_ONE_NAME = 100;

  // Workers are listed by name and then by this, of which none comes before.
  private static final String FIRST_OF_THEM = "/00000000-0000-0000-0000-000000000000";

  private final Holdfast holdfast;
  private final TenantName tenant;
  private final @Nullable HoldfastWorker worker;

  HoldfastHealth(Holdfast holdfast, TenantName tenant, @Nullable HoldfastWorker worker) {
    super("Holdfast's database does not answer");
    this.holdfast = holdfast;
    this.tenant = tenant;
    this.worker = worker;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) {
    health.up().withDetail("tenant", tenant.value());
    Optional<String> name = Optional.ofNullable(worker).flatMap(HoldfastWorker::name);
    if (name.isEmpty()) {
      holdfast.tenants().requireControl();
      return;
    }
    boolean isOnline =
        holdfast.workers().list(tenant, name.get() + FIRST_OF_THEM, MOST_OF_ONE_NAME).stream()
            .anyMatch(each -> each.info().name().equals(name.get()) && each.online());
    health
        .status(isOnline ? Status.UP : Status.DOWN)
        .withDetail("worker", name.get())
        .withDetail("online", isOnline);
  }
}
