package dev.holdfast.spring;

import dev.holdfast.Holdfast;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerBuilder;
import dev.holdfast.worker.WorkerListener;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/**
 * Works while the application runs. Its phase is the default one, which starts last and stops
 * first: handlers find everything that they need, also while the worker drains.
 *
 * <p>Stopping returns when the worker has drained, so that Spring's own timeout for a phase cannot
 * close the pool under handlers; {@code holdfast.worker.drain-timeout} bounds it.
 */
final class HoldfastWorker implements SmartLifecycle {

  private final Holdfast holdfast;
  private final HoldfastProperties properties;
  private final List<WorkerCustomizer> customizers;
  private final List<WorkerListener> listeners;
  private volatile @Nullable Worker running;

  HoldfastWorker(
      Holdfast holdfast,
      HoldfastProperties properties,
      List<WorkerCustomizer> customizers,
      List<WorkerListener> listeners) {
    this.holdfast = holdfast;
    this.properties = properties;
    this.customizers = customizers;
    this.listeners = listeners;
  }

  /** A new worker each time: contexts can be started again, and a closed worker cannot. */
  @Override
  public void start() {
    WorkerBuilder worker =
        holdfast
            .worker(properties.tenantName())
            .configure(defaults -> properties.worker().config());
    listeners.forEach(worker::listen);
    customizers.forEach(each -> each.customize(worker));
    running = worker.start();
  }

  @Override
  public void stop() {
    Worker worker = running;
    if (worker != null) {
      worker.close();
      running = null;
    }
  }

  @Override
  public boolean isRunning() {
    return running != null;
  }

  Optional<String> name() {
    return Optional.ofNullable(running).map(Worker::name);
  }
}
