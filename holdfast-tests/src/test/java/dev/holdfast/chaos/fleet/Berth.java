package dev.holdfast.chaos.fleet;

import java.util.List;
import java.util.function.Consumer;

/**
 * A place in the fleet, which one process after the other takes.
 *
 * @param args told to each of them, after its name and the ledger's port
 * @param ready hears the line by which each says that it is ready
 */
public record Berth(Role role, int number, List<String> args, Consumer<String> ready) {

  public Berth(Role role, int number, String... args) {
    this(role, number, List.of(args), line -> {});
  }

  public Berth onReady(Consumer<String> listener) {
    return new Berth(role, number, args, listener);
  }

  public String name() {
    return role.letter() + number;
  }

  String name(int life) {
    return name() + "." + life;
  }
}
