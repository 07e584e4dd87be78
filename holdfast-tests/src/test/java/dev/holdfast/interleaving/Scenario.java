package dev.holdfast.interleaving;

import dev.holdfast.interleaving.Actor.Part;
import java.util.List;
import java.util.stream.Stream;

/** What is there at first, and who then does what at the same time. */
interface Scenario {

  String name();

  void prepare(Scene scene);

  List<Part> parts(Scene scene);

  /** How many orders are played with every build. */
  int plays();

  static List<Scenario> all() {
    return Stream.<Scenario[]>of(
            HoldScenario.values(), SlotScenario.values(), WorkScenario.values())
        .flatMap(Stream::of)
        .toList();
  }
}
