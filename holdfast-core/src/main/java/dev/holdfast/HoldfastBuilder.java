package dev.holdfast;

import dev.holdfast.codec.Codec;
import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.retention.Retention;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.tracing.Tracing;
import java.util.Optional;
import javax.sql.DataSource;

/** What can be chosen about a Holdfast. */
public final class HoldfastBuilder {

  final DataSource dataSource;
  SchemaName controlSchema = new SchemaName("holdfast");
  Codec codec = new JacksonCodec();
  boolean notifyInTransactions = true;
  TransitionHook hook = TransitionHook.NONE;
  Retention retention = Retention.DEFAULTS;
  Tracing tracing = Tracing.NONE;
  Optional<DataSource> reserved = Optional.empty();
  Optional<DataSource> listening = Optional.empty();

  HoldfastBuilder(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /**
   * Where the tenants are listed; theirs are named {@code <control>_<tenant>}. Defaults to {@code
   * holdfast}.
   */
  public HoldfastBuilder controlSchema(String name) {
    controlSchema = new SchemaName(name);
    return this;
  }

  public HoldfastBuilder codec(Codec codec) {
    this.codec = codec;
    return this;
  }

  /**
   * Whether jobs enqueued in a caller's transaction are announced by NOTIFY at its commit. Commits
   * that notify take turns, so thousands a second are better off without; workers then find such
   * jobs by polling. Defaults to true.
   */
  public HoldfastBuilder notifyInTransactions(boolean notify) {
    this.notifyInTransactions = notify;
    return this;
  }

  /** Called in every transaction that moves jobs, for tables of the application's own. */
  public HoldfastBuilder onTransition(TransitionHook hook) {
    this.hook = hook;
    return this;
  }

  /**
   * Connections for what must not wait behind everything else: heartbeats and notifications. Give
   * it one for each worker and one to listen. Defaults to the same ones, of which each worker takes
   * its own when it starts.
   */
  public HoldfastBuilder reserve(DataSource pool) {
    this.reserved = Optional.of(pool);
    return this;
  }

  /**
   * Where to listen for notifications, directly: they do not get through a pooler in transaction
   * mode. Without it, behind one, workers poll.
   */
  public HoldfastBuilder listenOn(DataSource direct) {
    this.listening = Optional.of(direct);
    return this;
  }

  /** How jobs continue the traces of those who enqueue them. Defaults to not at all. */
  public HoldfastBuilder tracing(Tracing tracing) {
    this.tracing = tracing;
    return this;
  }

  /** How long what is over is kept. */
  public HoldfastBuilder retention(Retention retention) {
    this.retention = retention;
    return this;
  }

  public Holdfast build() {
    return new Holdfast(this);
  }
}
