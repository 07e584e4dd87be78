package dev.holdfast.model;

import dev.holdfast.model.Command.Drain;
import dev.holdfast.model.Command.Inspect;
import dev.holdfast.rig.Sandbox;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Runs one sequence after the other in one sandbox, and makes those that fail short. */
final class Sequences {

  private static final int MOST_REPLAYS = Integer.getInteger("holdfast.model.replays", 600);

  private final Sandbox sandbox;
  private final Neighbour neighbour;
  private final Tally tally;
  private final int mostReplays;

  Sequences(Sandbox sandbox, Neighbour neighbour, Tally tally) {
    this(sandbox, neighbour, tally, MOST_REPLAYS);
  }

  Sequences(Sandbox sandbox, Neighbour neighbour, Tally tally, int mostReplays) {
    this.sandbox = sandbox;
    this.neighbour = neighbour;
    this.tally = tally;
    this.mostReplays = mostReplays;
  }

  /**
   * What a sequence that fails comes down to.
   *
   * @param name its seed, or the file it is kept in
   */
  record Failed(String name, List<Command> commands, RuntimeException why) {

    @Override
    public String toString() {
      return "Sequence %s fails %s\nwith\n%s"
          .formatted(
              name,
              why.getMessage(),
              commands.stream()
                  .map(command -> "  " + command + ";")
                  .collect(Collectors.joining("\n")));
    }
  }

  /** A sequence as it was thought up, and why it ended early, if it did. */
  record Attempt(List<Command> commands, Optional<RuntimeException> why) {}

  /** Empty when all went well. */
  Optional<Failed> run(Seed seed) throws SQLException {
    Attempt attempt = attempt(seed);
    return shortened(seed.toString(), attempt.commands, attempt.why);
  }

  /** The same of commands that somebody kept. */
  Optional<Failed> run(String name, List<Command> commands) throws SQLException {
    return shortened(name, commands, replay(commands));
  }

  private Optional<Failed> shortened(
      String name, List<Command> commands, Optional<RuntimeException> why) throws SQLException {
    return why.isEmpty()
        ? Optional.empty()
        : Optional.of(shrink(new Failed(name, commands, why.get())));
  }

  Attempt attempt(Seed seed) throws SQLException {
    Generator generator = seed.generator();
    Driver driver = new Driver(sandbox, neighbour, tally);
    List<Command> done = new ArrayList<>();
    try {
      for (int i = 0; i < generator.length(); i++) {
        Command command = generator.next(driver);
        done.add(command);
        driver.run(command);
      }
      for (Command last : List.of(new Inspect(), new Drain(), new Inspect())) {
        done.add(last);
        driver.run(last);
      }
      return new Attempt(done, Optional.empty());
    } catch (RuntimeException e) {
      return new Attempt(done, Optional.of(e));
    }
  }

  private Failed shrink(Failed failed) throws SQLException {
    Failed shortest = failed;
    int replays = 0;
    for (int chunk = failed.commands.size() / 2; chunk >= 1; ) {
      boolean shorter = false;
      for (int from = 0; from < shortest.commands.size() && replays < mostReplays; ) {
        List<Command> fewer = new ArrayList<>(shortest.commands);
        fewer.subList(from, Math.min(from + chunk, fewer.size())).clear();
        Optional<RuntimeException> why = replay(fewer);
        replays++;
        if (why.isPresent()) {
          shortest = new Failed(failed.name, fewer, why.get());
          shorter = true;
        } else {
          from += chunk;
        }
      }
      if (!shorter || chunk > 1) {
        chunk /= 2;
      }
    }
    return shortest;
  }

  private Optional<RuntimeException> replay(List<Command> commands) throws SQLException {
    Driver driver = new Driver(sandbox, neighbour, new Tally());
    try {
      for (Command command : commands) {
        driver.run(command);
      }
      return Optional.empty();
    } catch (RuntimeException e) {
      return Optional.of(e);
    }
  }
}
