package dev.holdfast.reap;

import dev.holdfast.fleet.Predecessors;
import dev.holdfast.fleet.Predecessors.Gone;
import dev.holdfast.slot.Slots;
import dev.holdfast.slot.Slots.Recovered;
import dev.holdfast.tenant.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes over from workers that are gone: when a worker starts, this ends the attempts of dead
 * workers, and the scheduled runs that they, or an earlier worker of the same name, left behind.
 * Runs whose leases have not run out yet are looked at again later. Called from one thread.
 */
public final class Succession {

  private static final Logger log = LoggerFactory.getLogger(Succession.class);

  private static final Duration PAUSE = Duration.ofSeconds(30);

  private final Predecessors predecessors;
  private final Supplier<List<Tenant>> served;
  private final Function<Tenant, Reaper> reapers;
  private final IntConsumer onRecovered;
  private Gone gone = Gone.NOBODY;
  private List<Tenant> unsettled = List.of();
  private long againAtNanos;

  /**
   * For one worker.
   *
   * @param onRecovered gets the number of scheduled runs that were ended as failed
   */
  public Succession(
      Predecessors predecessors,
      Supplier<List<Tenant>> served,
      Function<Tenant, Reaper> reapers,
      IntConsumer onRecovered) {
    this.predecessors = predecessors;
    this.served = served;
    this.reapers = reapers;
    this.onRecovered = onRecovered;
  }

  /** Called before the worker claims anything, which may be under the name of a dead worker. */
  public void begin() {
    // May fail: without it, those jobs only wait until their leases have run out.
    try {
      gone = predecessors.gone();
      List<Tenant> tenants = served.get();
      if (!gone.dead().isEmpty()) { // seldom, so the usual start does not pay for it
        tenants.forEach(tenant -> reapers.apply(tenant).endOf(gone));
      }
      recover(tenants);
      predecessors.forget(gone);
    } catch (RuntimeException e) {
      log.warn("Could not take over from workers that are gone; their leases will run out", e);
    }
  }

  /** Looks again from time to time, as long as there are runs left to take over. */
  public void goOn() {
    if (!unsettled.isEmpty() && System.nanoTime() - againAtNanos >= 0) {
      recover(unsettled);
    }
  }

  private void recover(List<Tenant> tenants) {
    unsettled = tenants.stream().filter(tenant -> recover(tenant).stillLeased() > 0).toList();
    againAtNanos = System.nanoTime() + PAUSE.toNanos();
  }

  private Recovered recover(Tenant tenant) {
    Recovered recovered = new Slots(tenant.db()).recover(gone.former(), gone.asOf());
    if (recovered.runs() > 0) {
      log.warn(
          "{}: {} scheduled runs of workers that are gone have failed: {}",
          Slots.RECOVERED,
          recovered.runs(),
          gone.former());
      onRecovered.accept(recovered.runs());
    }
    return recovered;
  }
}
