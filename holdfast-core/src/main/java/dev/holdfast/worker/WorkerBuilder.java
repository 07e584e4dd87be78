package dev.holdfast.worker;

import dev.holdfast.codec.Codec;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.function.UnaryOperator;

/** Builds a worker. Not thread-safe. */
public final class WorkerBuilder {

  private final Codec codec;
  private final WorkerDependencies.Source dependencies;
  private final List<Interceptor> interceptors = new ArrayList<>();
  private WorkerConfig config = WorkerConfig.defaults();
  private Handlers handlers;
  private final List<WorkerListener> listeners = new ArrayList<>();
  private ThreadFactory threads = Thread.ofVirtual().name("holdfast-job").factory();
  private boolean drainAtExit;

  public WorkerBuilder(Codec codec, WorkerDependencies.Source dependencies) {
    this.codec = codec;
    this.dependencies = dependencies;
    this.handlers = Handlers.none(codec);
  }

  /** Runs jobs of this kind; returning normally is success. */
  public <A> WorkerBuilder handle(Kind<A> kind, Handler.Simple<A> handler) {
    return handleWithOutcome(kind, handler.returningSuccess());
  }

  /**
   * Runs jobs of this kind; the handler says how it ended: success with a result, snooze, failure.
   */
  public <A> WorkerBuilder handleWithOutcome(Kind<A> kind, Handler<A> handler) {
    handlers = handlers.with(kind, handler);
    return this;
  }

  /** Also runs jobs of kinds that are registered while the worker runs. */
  public WorkerBuilder handleRegistered(RegisteredKinds kinds) {
    handlers = handlers.withRegistered(kinds);
    return this;
  }

  public WorkerBuilder configure(UnaryOperator<WorkerConfig> change) {
    config = change.apply(config);
    return this;
  }

  /** The first one added is the outermost. */
  public WorkerBuilder intercept(Interceptor interceptor) {
    interceptors.add(interceptor);
    return this;
  }

  /** Adds a listener; every listener hears of everything. */
  public WorkerBuilder listen(WorkerListener listener) {
    listeners.add(listener);
    return this;
  }

  /**
   * Runs each attempt on a thread of this factory instead of a virtual one. Where handlers compute
   * for long, other claimed jobs on virtual threads would wait until one of the handlers blocks.
   */
  public WorkerBuilder runOn(ThreadFactory threads) {
    this.threads = threads;
    return this;
  }

  /**
   * Drains the worker as {@link Worker#close} does when the process is told to end, by SIGTERM or
   * otherwise. Leave it out where something else closes the worker.
   */
  public WorkerBuilder drainAtExit() {
    drainAtExit = true;
    return this;
  }

  public Worker build() {
    if (handlers.kinds().own().isEmpty()) {
      throw HoldfastException.badConfig("worker.handlers", "none", "at least one handler");
    }
    WorkerListener listener = new SafeListeners(List.copyOf(listeners));
    return new Worker(
        config,
        drainAtExit,
        dependencies.of(config, handlers.kinds(), listener),
        new WorkerSetup(handlers, interceptors, codec, listener, threads));
  }

  public Worker start() {
    return build().start();
  }
}
