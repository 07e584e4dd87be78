package dev.holdfast.planted;

import java.util.List;
import java.util.stream.Stream;

/**
 * A guard in Java that is taken away on purpose, and the tests that must fail then. The sources are
 * compiled apart, and the tests run against that in a process of its own.
 */
sealed interface PlantedPatch permits EnginePatch, OutagePatch, AttackPatch {

  static List<PlantedPatch> all() {
    return Stream.<PlantedPatch[]>of(
            EnginePatch.values(), OutagePatch.values(), AttackPatch.values())
        .flatMap(Stream::of)
        .toList();
  }

  String name();

  Trial trial();

  List<Cut> cuts();
}
