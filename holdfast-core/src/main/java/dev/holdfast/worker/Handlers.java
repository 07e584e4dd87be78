package dev.holdfast.worker;

import dev.holdfast.codec.Codec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.Lease;
import java.util.LinkedHashMap;
import java.util.Map;

/** The kinds that a worker can run, and their handlers. Immutable, except for registered kinds. */
final class Handlers {

  private record Entry<A>(Kind<A> kind, Handler<A> handler) {

    Outcome run(Lease lease, Codec codec, JobContext context) throws Exception {
      return handler.handle(codec.decode(lease.args().json(), kind.argsType()), context);
    }
  }

  private final Map<String, Entry<?>> byKind;
  private final RegisteredKinds registered;
  private final Codec codec;

  private Handlers(Map<String, Entry<?>> byKind, RegisteredKinds registered, Codec codec) {
    this.byKind = byKind;
    this.registered = registered;
    this.codec = codec;
  }

  static Handlers none(Codec codec) {
    return new Handlers(Map.of(), RegisteredKinds.NONE, codec);
  }

  <A> Handlers with(Kind<A> kind, Handler<A> handler) {
    Map<String, Entry<?>> more = new LinkedHashMap<>(byKind);
    if (more.put(kind.name(), new Entry<>(kind, handler)) != null) {
      throw HoldfastException.badConfig("handler", kind.name(), "one handler per kind");
    }
    return new Handlers(Map.copyOf(more), registered, codec);
  }

  Handlers withRegistered(RegisteredKinds kinds) {
    return new Handlers(byKind, kinds, codec);
  }

  ServedKinds kinds() {
    return new ServedKinds(byKind.keySet(), registered);
  }

  Outcome run(Lease lease, JobContext context) throws Exception {
    Entry<?> entry = byKind.get(lease.kind());
    if (entry == null && registered.of(lease.key().tenant()).contains(lease.kind())) {
      entry = new Entry<>(Kind.of(lease.kind(), Object.class), registered::run);
    }
    if (entry == null) {
      throw new HoldfastException(
          ErrorCode.UNKNOWN_KIND, "no handler for kind '" + lease.kind() + "'");
    }
    return entry.run(lease, codec, context);
  }
}
