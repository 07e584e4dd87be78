package dev.holdfast.spring;

import dev.holdfast.Holdfast;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerBuilder;
import dev.holdfast.worker.WorkerListener;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.Ordered;

/**
 * Works while the application runs. Its phase is the default one, which starts last. In that phase
 * beans stop in the order in which they were registered, and the application's come first. So the
 * worker does not wait for its phase when the application closes, but drains as soon as it is told:
 * handlers find everything that they need, also then.
 *
 * <p>Stopping returns when the worker has drained, so that Spring's own timeout for a phase cannot
 * close the pool under handlers; {@code holdfast.worker.drain-timeout} bounds it.
 */
final class HoldfastWorker
    implements SmartLifecycle, ApplicationListener<ContextClosedEvent>, Ordered {

  private static final Logger log = LoggerFactory.getLogger(HoldfastWorker.class);

  private final ApplicationContext context;
  private final Holdfast holdfast;
  private final HoldfastProperties properties;
  private final List<WorkerCustomizer> customizers;
  private final List<WorkerListener> listeners;
  private volatile @Nullable Worker running;

  HoldfastWorker(
      ApplicationContext context,
      Holdfast holdfast,
      HoldfastProperties properties,
      List<WorkerCustomizer> customizers,
      List<WorkerListener> listeners) {
    this.context = context;
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

  /** Also told of child contexts that close, which is none of its business. */
  @Override
  public void onApplicationEvent(ContextClosedEvent event) {
    if (!event.getApplicationContext().equals(context)) {
      return;
    }
    try {
      stop();
    } catch (RuntimeException e) {
      // Others want to hear of the close, too. The worker is stopped once more in its phase.
      log.warn("The worker did not stop when the application closed", e);
    }
  }

  /** Executors hear of the close as well, and then take no more tasks of handlers. */
  @Override
  public int getOrder() {
    return HIGHEST_PRECEDENCE;
  }

  /** Or the application would go on closing while the worker drains. */
  @Override
  public boolean supportsAsyncExecution() {
    return false;
  }

  /** When the context is stopped or restarted, but not closed, in the order of phases. */
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
