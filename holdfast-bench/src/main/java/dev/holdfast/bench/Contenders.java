package dev.holdfast.bench;

import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.contender.HoldfastContender;
import dev.holdfast.bench.contender.RawContender;
import dev.holdfast.bench.peer.DbSchedulerContender;
import dev.holdfast.bench.peer.JobRunrContender;
import dev.holdfast.bench.peer.QuartzContender;
import java.util.List;
import java.util.stream.Stream;

/** Who is compared. */
final class Contenders {

  private Contenders() {}

  /** Raw first: it is what the others are a share of. */
  static List<Contender> withoutPeers(int concurrency) {
    return List.of(new RawContender(), new HoldfastContender(concurrency));
  }

  static List<Contender> withPeers(int concurrency) {
    return Stream.concat(
            withoutPeers(concurrency).stream(),
            Stream.of(new DbSchedulerContender(), new JobRunrContender(), new QuartzContender()))
        .toList();
  }

  static Contender named(String name, int concurrency) {
    return withPeers(concurrency).stream()
        .filter(contender -> contender.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no contender " + name));
  }
}
