package dev.holdfast.server.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.doctor.Finding.Level;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskSpaceTest {

  @TempDir Path directory;

  @Test
  void a_disk_that_fills_up_is_first_a_warning() {
    DiskSpace disk = new DiskSpace(directory);

    assertThat(disk.judged(3_000_000_000L, 10_000_000_000L).level()).isEqualTo(Level.OK);
    assertThat(disk.judged(1_000_000_000L, 10_000_000_000L).level()).isEqualTo(Level.WARN);
    assertThat(disk.judged(100_000_000L, 10_000_000_000L).level()).isEqualTo(Level.FAIL);
    assertThat(disk.look().detail()).contains("MB free at " + directory);
  }

  @Test
  void a_directory_that_is_not_there_is_a_failure() {
    assertThat(new DiskSpace(directory.resolve("gone")).look().level()).isEqualTo(Level.FAIL);
  }
}
