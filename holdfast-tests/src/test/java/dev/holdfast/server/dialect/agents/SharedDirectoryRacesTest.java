package dev.holdfast.server.dialect.agents;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.executor.files.SharedDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Somebody who may write into the shared directory exchanges what is in it as fast as a machine
 * can, to hit the moment between a look and what follows it.
 */
class SharedDirectoryRacesTest {

  private static final Duration LENGTH =
      Duration.ofSeconds(Integer.getInteger("holdfast.races.seconds", 2));
  // On a busy machine little is tried in that time, and the moment is never hit.
  private static final int LEAST_ROUNDS = 200;

  private interface Step {
    void run() throws IOException;
  }

  @TempDir Path place;
  private Path inside;
  private Path outside;
  private SharedDirectory shared;

  @BeforeEach
  void make() throws IOException {
    inside = place.resolve("inside");
    outside = Files.createDirectory(place.resolve("outside"));
    Files.writeString(outside.resolve("status.json"), "secret");
    shared = SharedDirectory.at(inside);
  }

  @Test
  @Timeout(300)
  void nothing_is_made_or_written_where_a_link_leads_that_comes_and_goes() throws Exception {
    Path jobs = inside.resolve("jobs");
    AtomicInteger gone = new AtomicInteger();
    whileSwapping(
        LEAST_ROUNDS,
        () -> {
          tried(() -> Files.createDirectory(jobs));
          tried(() -> Files.move(jobs, place.resolve("gone" + gone.incrementAndGet())));
          tried(() -> Files.createSymbolicLink(jobs, outside));
          tried(() -> Files.delete(jobs));
        },
        round -> {
          String job = "job" + round;
          tried(() -> shared.write(List.of("jobs", job, "status.json"), new byte[1]));
          tried(() -> shared.make(List.of("jobs", job, "results")));
          tried(() -> shared.delete(List.of("jobs", "status.json")));
          tried(() -> shared.deleteAll(List.of("jobs")));
        });

    assertThat(outside.toFile().list()).containsExactly("status.json");
    assertThat(outside.resolve("status.json")).hasContent("secret");
  }

  @Test
  @Timeout(300)
  void nothing_is_read_from_where_a_link_leads_that_comes_and_goes() throws Exception {
    Path file = inside.resolve("status.json");
    Path secret = outside.resolve("status.json");
    AtomicReference<String> seen = new AtomicReference<>("");
    whileSwapping(
        LEAST_ROUNDS,
        () -> {
          Files.writeString(inside.resolve("next"), "ours");
          Files.move(inside.resolve("next"), file, ATOMIC_MOVE);
          Files.createSymbolicLink(inside.resolve("next"), secret);
          Files.move(inside.resolve("next"), file, ATOMIC_MOVE);
        },
        round ->
            tried(() ->
                shared
                    .read(List.of("status.json"), 100)
                    .map(bytes -> new String(bytes, UTF_8))
                    .filter(text -> text.contains("secret"))
                    .ifPresent(seen::set)));

    assertThat(seen.get()).isEmpty();
  }

  @Test
  @Timeout(300)
  void a_pipe_that_takes_a_files_place_holds_nobody_up() throws Exception {
    Path file = Files.writeString(inside.resolve("status.json"), "ours");
    Path pipe = place.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    whileSwapping(
        0, // one that meets the pipe may take ten seconds
        () -> {
          Files.createLink(inside.resolve("next"), pipe);
          Files.move(inside.resolve("next"), file, ATOMIC_MOVE);
          Files.writeString(inside.resolve("next"), "ours");
          Files.move(inside.resolve("next"), file, ATOMIC_MOVE);
        },
        round -> tried(() -> shared.read(List.of("status.json"), 100)));
  }

  /** Beside somebody who swaps until all rounds are over. */
  private static void whileSwapping(int least, Step swap, IntConsumer round)
      throws InterruptedException {
    AtomicBoolean over = new AtomicBoolean();
    Thread swapper =
        Thread.ofPlatform()
            .daemon()
            .start(() -> {
              while (!over.get()) {
                tried(swap);
              }
            });
    try {
      long untilNanos = System.nanoTime() + LENGTH.toNanos();
      for (int i = 0; i < least || System.nanoTime() - untilNanos < 0; i++) {
        round.accept(i);
      }
    } finally {
      over.set(true);
      swapper.join();
    }
  }

  /** It may fail, and mostly will. */
  private static void tried(Step step) {
    try {
      step.run();
    } catch (IOException e) {
      return;
    }
  }
}
