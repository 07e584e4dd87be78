package dev.holdfast.worker;

import dev.holdfast.codec.Codec;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

/** Puts a worker together. Not thread-safe. */
public final class WorkerBuilder {

  private final Codec codec;
  private final BiFunction<WorkerConfig, Set<String>, Surroundings> surroundings;
  private final List<Interceptor> interceptors = new ArrayList<>();
  private WorkerConfig config = WorkerConfig.defaults();
  private Handlers handlers;
  private WorkerListener listener = WorkerListener.NONE;
  private boolean drainAtExit;

  public WorkerBuilder(
      Codec codec, BiFunction<WorkerConfig, Set<String>, Surroundings> surroundings) {
    this.codec = codec;
    this.surroundings = surroundings;
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

  public WorkerBuilder configure(UnaryOperator<WorkerConfig> change) {
    config = change.apply(config);
    return this;
  }

  /** The first one added is the outermost. */
  public WorkerBuilder intercept(Interceptor interceptor) {
    interceptors.add(interceptor);
    return this;
  }

  public WorkerBuilder listen(WorkerListener listener) {
    this.listener = listener;
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
    if (handlers.kinds().isEmpty()) {
      throw HoldfastException.badConfig("worker.handlers", "none", "at least one handler");
    }
    return new Worker(
        config,
        drainAtExit,
        surroundings.apply(config, handlers.kinds()),
        new WorkerSetup(handlers, interceptors, codec, new FencedListener(listener)));
  }

  public Worker start() {
    return build().start();
  }
}
