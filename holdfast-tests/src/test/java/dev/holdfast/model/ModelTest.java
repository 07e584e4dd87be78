package dev.holdfast.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.Sequences.Failed;
import dev.holdfast.rig.Sandbox;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random commands, done to the engine on a real database and to a model of it, which must agree
 * after each. For a longer run: {@code -Dholdfast.model.commands=1000000}, and {@code
 * -Dholdfast.model.seed} to repeat one.
 */
@Order(1) // takes minutes
class ModelTest {

  private static final long COMMANDS = Long.getLong("holdfast.model.commands", 50_000);
  private static final long SEED = Long.getLong("holdfast.model.seed", 20_261_116L);
  private static final String ONLY = System.getProperty("holdfast.model.only", "");
  private static final int RUNNERS = Integer.getInteger("holdfast.model.runners", 2);

  private static final Path KEPT = Path.of("src", "test", "resources", "model-commands");
  private static final Path FAILED = Path.of("target", "model");

  /** A sequence that is to be tried, by its seed or as it was kept. */
  private interface Kept {
    Optional<Failed> run(Sequences sequences) throws SQLException;
  }

  private final Tally tally = new Tally();
  private final AtomicLong sequence = new AtomicLong();
  private final List<Failed> failures = new ArrayList<>();

  @Test
  @Timeout(value = 12, unit = TimeUnit.HOURS)
  void the_engine_does_what_the_model_says() throws Exception {
    long began = System.nanoTime();
    List<Kept> kept = kept();

    onAllRunners(() -> runUntilDone(kept));

    System.out.printf(
        "Model: seed %d, %d sequences after %d kept ones, %s, in %d s%n",
        SEED,
        sequence.get() - kept.size(),
        kept.size(),
        tally,
        TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began));
    System.out.println(tally.acts());
    assertThat(failures).isEmpty();
    if (COMMANDS >= Floor.COMMANDS && !isOnlyOne()) {
      assertThat(tally.unreached()).as("acts that were never allowed").isEmpty();
      assertThat(tally.tooRare()).as("what was met too rarely to show anything").isEmpty();
    }
  }

  private Void runUntilDone(List<Kept> kept) throws Exception {
    try (Sandbox sandbox = new Sandbox("model", UnaryOperator.identity());
        Neighbour neighbour = new Neighbour()) {
      Sequences sequences = new Sequences(sandbox, neighbour, tally);
      while (true) {
        long number = sequence.getAndIncrement();
        if (number >= kept.size() && (tally.commands() >= COMMANDS || hasFailed() || isOnlyOne())) {
          return null;
        }
        Optional<Failed> failed =
            number < kept.size()
                ? kept.get((int) number).run(sequences)
                : sequences.run(seedOf(number - kept.size()));
        if (failed.isPresent()) {
          failed(failed.get());
        }
      }
    }
  }

  private static boolean isOnlyOne() {
    return !ONLY.isEmpty();
  }

  private static Seed seedOf(long number) {
    return Seed.of(SEED * 1_000_003L + number);
  }

  private synchronized boolean hasFailed() {
    return !failures.isEmpty();
  }

  private synchronized void failed(Failed failed) throws IOException {
    System.out.println(failed);
    System.out.println("To keep it: " + CommandFile.write(FAILED, failed) + " into " + KEPT);
    failures.add(failed);
  }

  private static void onAllRunners(Callable<Void> work) throws Exception {
    ExecutorService runners = Executors.newFixedThreadPool(RUNNERS);
    try {
      List<Future<Void>> running = new ArrayList<>();
      for (int i = 0; i < RUNNERS; i++) {
        running.add(runners.submit(work));
      }
      for (Future<Void> each : running) {
        each.get();
      }
    } catch (ExecutionException e) {
      throw new AssertionError("a runner failed", e.getCause());
    } finally {
      runners.shutdownNow();
    }
  }

  private static List<Kept> kept() throws IOException {
    if (isOnlyOne()) {
      return List.of(
          CommandFile.isOne(ONLY)
              ? kept(Path.of(ONLY))
              : sequences -> sequences.run(Seed.read(ONLY)));
    }
    List<Kept> kept = new ArrayList<>();
    for (Path file : CommandFile.in(KEPT)) {
      kept.add(kept(file));
    }
    keptSeeds().forEach(seed -> kept.add(sequences -> sequences.run(seed)));
    return kept;
  }

  private static Kept kept(Path file) throws IOException {
    List<Command> commands = CommandFile.read(file);
    return sequences -> sequences.run(String.valueOf(file.getFileName()), commands);
  }

  private static List<Seed> keptSeeds() throws IOException {
    try (InputStream file =
        Objects.requireNonNull(ModelTest.class.getResourceAsStream("/model-seeds.txt"))) {
      return new String(file.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .map(line -> line.replaceFirst("#.*", "").strip())
          .filter(line -> !line.isEmpty())
          .map(Seed::read)
          .toList();
    }
  }
}
