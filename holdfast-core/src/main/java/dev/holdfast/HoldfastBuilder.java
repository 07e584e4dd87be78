package dev.holdfast;

import dev.holdfast.codec.Codec;
import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.retention.Retention;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.tracing.Tracing;
import java.util.Optional;
import javax.sql.DataSource;

/** Builds a {@link Holdfast}. Every setting has a default. */
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
   * The schema that lists the tenants. A tenant's own schema is named {@code <control>_<tenant>}.
   * Defaults to {@code holdfast}.
   */
  public HoldfastBuilder controlSchema(String name) {
    controlSchema = new SchemaName(name);
    return this;
  }

  /** How arguments and results become JSON. Defaults to a {@link JacksonCodec}. */
  public HoldfastBuilder codec(Codec codec) {
    this.codec = codec;
    return this;
  }

  /**
   * Whether a job enqueued in a caller's transaction is announced by NOTIFY when that commits.
   * PostgreSQL commits transactions that notify one after the other, so an application with
   * thousands of them a second should turn this off; workers then find such jobs by polling.
   * Defaults to true.
   */
  public HoldfastBuilder notifyInTransactions(boolean notify) {
    this.notifyInTransactions = notify;
    return this;
  }

  /**
   * A hook that is called in every transaction that moves jobs, so that the application's own
   * tables can follow. Defaults to none.
   */
  public HoldfastBuilder onTransition(TransitionHook hook) {
    this.hook = hook;
    return this;
  }

  /**
   * A pool for heartbeats and notifications, which must not wait behind everything else. It needs
   * one connection for each worker and one to listen. Defaults to the main pool, from which each
   * worker takes its own connection when it starts.
   */
  public HoldfastBuilder reserve(DataSource pool) {
    this.reserved = Optional.of(pool);
    return this;
  }

  /**
   * A direct connection to the database on which to listen for notifications, which do not get
   * through a pooler in transaction mode. Behind such a pooler, and without this, workers poll.
   */
  public HoldfastBuilder listenOn(DataSource direct) {
    this.listening = Optional.of(direct);
    return this;
  }

  /** How a job continues the trace of the caller that enqueued it. Defaults to not at all. */
  public HoldfastBuilder tracing(Tracing tracing) {
    this.tracing = tracing;
    return this;
  }

  /** How long finished jobs, logs and slots are kept. Defaults to {@link Retention#DEFAULTS}. */
  public HoldfastBuilder retention(Retention retention) {
    this.retention = retention;
    return this;
  }

  public Holdfast build() {
    return new Holdfast(this);
  }
}
