package dev.holdfast.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessIdTest {

  private final ProcessId here = ProcessId.current().orElseThrow();

  @Test
  void a_process_that_is_not_there_is_dead_and_one_that_is_there_is_not() {
    assertThat(gone().isDead(here)).isTrue();
    assertThat(here.isDead(here)).isFalse();
  }

  // As the kernel does for those that a user may not see (hidepid).
  @Test
  void where_processes_are_hidden_nobody_is_known_to_be_dead(@TempDir Path proc)
      throws IOException {
    Files.createDirectory(proc.resolve("self"));

    assertThat(gone().isDead(here, proc)).isFalse();
  }

  private ProcessId gone() {
    String[] parts = here.stored().split(" ", -1);
    return ProcessId.of(parts[0] + " " + parts[1] + " 999999999 " + parts[3]);
  }
}
