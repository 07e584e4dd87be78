package dev.holdfast.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A run of the model that meets something too rarely says so. */
class FloorTest {

  @Test
  void what_a_generator_no_longer_comes_up_with_is_missed() {
    assertThat(
            Floor.tooRare(
                Floor.COMMANDS, name -> 50_000, name -> name.equals("drained") ? 0 : 5000))
        .singleElement()
        .asString()
        .startsWith("drained: 0 instead of");
    assertThat(Floor.tooRare(Floor.COMMANDS, name -> name.equals("remake") ? 0 : 50_000, n -> 5000))
        .singleElement()
        .asString()
        .startsWith("remake: 0 instead of");
    assertThat(Floor.tooRare(Floor.COMMANDS, name -> 50_000, name -> 5_000)).isEmpty();
  }

  @Test
  void a_longer_run_has_to_meet_as_much_more() {
    assertThat(Floor.tooRare(20 * Floor.COMMANDS, name -> 1_000_000, name -> 20)).isNotEmpty();
    assertThat(Floor.tooRare(20 * Floor.COMMANDS, name -> 1_000_000, name -> 100_000)).isEmpty();
  }

  @Test
  void what_a_run_counts_is_what_has_a_floor() {
    Tally tally = new Tally();
    Floor.OF_EVENTS
        .keySet()
        .forEach(event -> tally.count(event.toUpperCase(Locale.ROOT), 1_000_000));

    assertThat(tally.tooRare())
        .extracting(rare -> rare.replaceFirst(":.*", ""))
        .containsExactlyInAnyOrderElementsOf(Floor.OF_COMMANDS.keySet());
  }

  @Test
  void every_type_of_command_has_a_floor() {
    Set<String> types =
        Arrays.stream(Command.class.getPermittedSubclasses())
            .map(type -> type.getSimpleName().toLowerCase(Locale.ROOT))
            .filter(type -> !type.equals("do") && !type.equals("drain")) // acts; and an event
            .collect(Collectors.toSet());

    assertThat(Floor.OF_COMMANDS.keySet()).isEqualTo(types);
  }
}
