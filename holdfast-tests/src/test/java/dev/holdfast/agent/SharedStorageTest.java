package dev.holdfast.agent;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Containers write where the agent writes their logs, and are not trusted with where that is. */
class SharedStorageTest {

  private static final Duration LENGTH =
      Duration.ofSeconds(Integer.getInteger("holdfast.races.seconds", 1));

  private interface Step {
    void run() throws IOException;
  }

  @TempDir Path place;
  private Path inside;
  private Path outside;
  private SharedStorage storage;

  @BeforeEach
  void make() throws IOException {
    inside = Files.createDirectory(place.resolve("inside"));
    outside = Files.createDirectory(place.resolve("outside"));
    storage = SharedStorage.in(inside);
  }

  @Test
  void lines_are_added_to_a_jobs_log_which_is_made_with_the_first() throws IOException {
    storage.log("a-1", List.of("one", "two"));
    storage.log("a-1", List.of("three"));

    assertThat(inside.resolve("jobs/a-1/logs/a-1.log")).hasContent("one\ntwo\nthree\n");
    assertThat(inside.toFile().list()).containsExactly("jobs");
  }

  @Test
  void a_link_in_place_of_a_directory_or_of_the_log_leads_nowhere() throws IOException {
    Files.createDirectory(inside.resolve("jobs"));
    Files.createSymbolicLink(inside.resolve("jobs/a-1"), outside);
    Files.createDirectories(inside.resolve("jobs/b-2/logs"));
    Files.createSymbolicLink(inside.resolve("jobs/b-2/logs/b-2.log"), outside.resolve("made"));
    Files.createDirectory(inside.resolve("jobs/c-3"));
    Files.createSymbolicLink(inside.resolve("jobs/c-3/logs"), outside);

    for (String id : List.of("a-1", "b-2", "c-3")) {
      assertThatThrownBy(() -> storage.log(id, List.of("x"))).isInstanceOf(HoldfastException.class);
    }

    assertThat(outside).isEmptyDirectory();
  }

  @Test
  @Timeout(30)
  void a_pipe_in_place_of_the_log_or_of_a_directory_holds_nobody_up() throws Exception {
    Files.createDirectories(inside.resolve("jobs/a-1/logs"));
    pipe(inside.resolve("jobs/a-1/logs/a-1.log"));
    pipe(inside.resolve("jobs/b-2"));

    for (String id : List.of("a-1", "b-2")) {
      assertThatThrownBy(() -> storage.log(id, List.of("x"))).isInstanceOf(HoldfastException.class);
    }
  }

  private static void pipe(Path path) throws Exception {
    assertThat(new ProcessBuilder("mkfifo", path.toString()).start().waitFor()).isZero();
  }

  @Test
  @Timeout(120)
  void nothing_is_made_or_written_where_a_link_leads_that_comes_and_goes() throws Exception {
    Path logs = Files.createDirectories(inside.resolve("jobs/a-1")).resolve("logs");
    AtomicBoolean over = new AtomicBoolean();
    Thread swapper =
        Thread.ofPlatform()
            .start(() -> {
              for (int round = 0; !over.get(); round++) {
                Path gone = place.resolve("gone" + round);
                tried(() -> Files.move(logs, gone, ATOMIC_MOVE));
                tried(() -> Files.createSymbolicLink(logs, outside));
                tried(() -> Files.delete(logs));
              }
            });
    long untilNanos = System.nanoTime() + LENGTH.toNanos();
    int written = 0;
    while (System.nanoTime() < untilNanos || written == 0) {
      try {
        storage.log("a-1", List.of("x"));
        written++;
      } catch (HoldfastException e) {
        assertThat(e).hasMessageContaining("cannot be written");
      }
    }
    over.set(true);
    swapper.join();

    assertThat(outside).isEmptyDirectory();
  }

  // Half of what it tries is too late, or meets what is there already.
  private static void tried(Step step) {
    try {
      step.run();
    } catch (IOException e) {
      Thread.onSpinWait();
    }
  }
}
