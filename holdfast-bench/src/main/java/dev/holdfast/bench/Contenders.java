package dev.holdfast.bench;

import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.contender.HoldfastContender;
import dev.holdfast.bench.contender.RawContender;
import java.util.List;

/** Who is compared. */
final class Contenders {

  private Contenders() {}

  /** Raw first: it is what the others are a share of. */
  static List<Contender> all(int concurrency) {
    return List.of(new RawContender(), new HoldfastContender(concurrency));
  }

  static Contender named(String name, int concurrency) {
    return all(concurrency).stream()
        .filter(contender -> contender.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no contender " + name));
  }
}
