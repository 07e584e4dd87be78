package dev.holdfast.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.executor.ArgumentsFuzz;
import dev.holdfast.executor.FramesFuzz;
import dev.holdfast.executor.MaskFuzz;
import dev.holdfast.schedule.CronFuzz;
import dev.holdfast.server.dialect.agents.AgentPathsFuzz;
import dev.holdfast.server.dialect.pull.SignatureFuzz;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Readers of what others wrote, given what nobody would write. With every build, each for a second,
 * by dice that know nothing of the code; {@code -Dholdfast.fuzz.minutes=60} lets Jazzer do it, in a
 * process of its own and with an eye on which branches are taken.
 */
class FuzzTest {

  private static final long MINUTES = Long.getLong("holdfast.fuzz.minutes", 0L);
  private static final long SEED = Long.getLong("holdfast.fuzz.seed", 20_261_117L);
  private static final Duration SHORT =
      Duration.ofMillis(Long.getLong("holdfast.fuzz.millis", 1_000));

  private static final List<String> PIECES =
      List.of(
          "\0",
          "\n",
          "\r\n",
          "..",
          "/",
          "//",
          "\\",
          "%00",
          "%2e",
          "{",
          "}",
          "[",
          "]",
          "\"",
          "'",
          "{{",
          "}}",
          "${",
          "-",
          "--",
          "*",
          "*/",
          ",",
          ":",
          "@",
          "#",
          "1e999",
          "-1",
          "0x",
          "\u202e",
          "\ud800",
          "\ud83d\ude00",
          "\uff0e",
          "\u00a0",
          "null",
          "true",
          "9".repeat(30),
          "|");

  static List<FuzzTarget> targets() {
    return List.of(
        new CronFuzz(),
        new JobSpecFuzz(),
        new ParametersFuzz(),
        new AgentPathsFuzz(),
        new ArgumentsFuzz(),
        new MaskFuzz(),
        new FramesFuzz(),
        new SignatureFuzz());
  }

  @ParameterizedTest
  @MethodSource("targets")
  @Timeout(value = 24, unit = TimeUnit.HOURS)
  void what_is_made_up_is_refused_or_read_as_promised(FuzzTarget target, @TempDir Path place)
      throws Exception {
    byDice(target);
    if (MINUTES > 0) {
      byJazzer(target, place);
    }
  }

  private static void byDice(FuzzTarget target) {
    RandomGenerator dice = new SplittableRandom(SEED);
    List<byte[]> corpus = new ArrayList<>();
    target.seeds().forEach(seed -> corpus.add(seed.getBytes(UTF_8)));
    corpus.forEach(seed -> FuzzTarget.run(target, seed));
    long untilNanos = System.nanoTime() + SHORT.toNanos();
    long inputs = 0;
    while (System.nanoTime() - untilNanos < 0) {
      byte[] input = corpus.get(dice.nextInt(corpus.size()));
      for (int changes = dice.nextInt(1, 6); changes > 0; changes--) {
        input = changed(input, corpus, dice);
      }
      FuzzTarget.run(target, input);
      inputs++;
    }
    assertThat(inputs).isPositive();
  }

  private static byte[] changed(byte[] input, List<byte[]> corpus, RandomGenerator dice) {
    int at = dice.nextInt(input.length + 1);
    int end = Math.min(input.length, at + dice.nextInt(8));
    byte[] other = corpus.get(dice.nextInt(corpus.size()));
    return switch (dice.nextInt(6)) {
      case 0 -> spliced(input, at, end, new byte[0]);
      case 1 -> spliced(input, at, at, new byte[] {(byte) dice.nextInt(256)});
      case 2 -> spliced(input, at, end, new byte[] {(byte) dice.nextInt(32, 127)});
      case 3 -> spliced(input, at, end, PIECES.get(dice.nextInt(PIECES.size())).getBytes(UTF_8));
      case 4 -> spliced(input, at, input.length, other);
      default -> spliced(input, at, at, java.util.Arrays.copyOfRange(input, at, end));
    };
  }

  private static byte[] spliced(byte[] input, int from, int to, byte[] instead) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.write(input, 0, from);
    all.writeBytes(instead);
    all.write(input, to, input.length - to);
    return all.toByteArray();
  }

  private static void byJazzer(FuzzTarget target, Path place) throws Exception {
    Path corpus = Files.createDirectory(place.resolve("corpus"));
    for (String seed : target.seeds()) {
      Files.writeString(corpus.resolve(Integer.toHexString(seed.hashCode())), seed);
    }
    Process jazzer =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                "com.code_intelligence.jazzer.Jazzer",
                "--target_class=" + target.getClass().getName(),
                "--instrumentation_includes=dev.holdfast.**",
                "-max_total_time=" + MINUTES * 60 / targets().size(),
                "-seed=" + (int) SEED,
                corpus.toString())
            .directory(place.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(jazzer.getInputStream().readAllBytes(), UTF_8);

    assertThat(jazzer.waitFor()).as(said).isZero();
    said.lines()
        .filter(line -> line.startsWith("Done "))
        .forEach(line ->
            System.out.println("Jazzer on " + target.getClass().getSimpleName() + ": " + line));
    assertThat(said).contains("Done ");
  }
}
