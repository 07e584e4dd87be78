package dev.holdfast.doctor;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.queue.Queues;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Checks a database and the tenants in it. Thread-safe. */
public final class Doctor {

  private final Check reachable;
  private final Check writable;
  private final List<Check> others;

  /**
   * A doctor with all checks.
   *
   * @param queues returns the queues of a tenant
   * @param clock this machine's clock, to be compared with the database's
   */
  public Doctor(Tenants tenants, Function<TenantName, Queues> queues, InstantSource clock) {
    this.reachable = new ServerVersion(tenants.control());
    this.writable = new Writable(tenants.control());
    this.others =
        List.of(
            writable,
            new Durability(tenants.control()),
            new ClockDifference(tenants.control(), clock),
            new PoolerCheck(tenants.control()),
            new SessionSettings(tenants.control()),
            new ConnectionsLeft(tenants.control()),
            new OldestTransaction(tenants.control()),
            new ReplicationSlots(tenants.control()),
            new TransactionIds(tenants.control()),
            new SchemaVersions(tenants),
            new DeadRows(tenants),
            new InvariantsHold(tenants),
            new QueuesServed(tenants, queues));
  }

  /**
   * The findings of all checks. If the database cannot be reached, or its version is not supported,
   * that is the only finding.
   */
  public List<Finding> examine() {
    List<Finding> findings = new ArrayList<>();
    Finding first = examine(reachable);
    findings.add(first);
    if (first.level() != Finding.Level.FAIL) {
      others.forEach(check -> findings.add(examine(check)));
    }
    return findings;
  }

  /**
   * Checks quickly whether the database takes writes.
   *
   * @throws HoldfastException if it cannot be reached
   */
  public Finding writable() {
    return writable.look();
  }

  /** The finding of one check. A check that cannot be made is a finding, too. */
  public static Finding examine(Check check) {
    try {
      return check.look();
    } catch (HoldfastException e) {
      return Finding.fail(
          check, String.valueOf(e.getMessage()), "see that the database answers, and look again");
    }
  }
}
