package dev.holdfast.chaos.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.chaos.fleet.Jvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ledger as a process of its own, as workers find it. */
class LedgerTest {

  @TempDir Path directory;

  @Test
  void whoever_hung_up_is_gone_before_anybody_takes_its_place() throws Exception {
    Path file = directory.resolve("ledger");
    Jvm process =
        Jvm.Launch.only(Ledger.class)
            .start(Ledger.class, 64, directory.resolve("log"), file.toString());
    int port = Integer.parseInt(process.firstLine().join());

    try (LedgerClient second = new LedgerClient(port, "second")) {
      try (LedgerClient first = new LedgerClient(port, "first")) {
        assertThat(first.says("start job 1 5 site:1")).isTrue();
      }
      assertThat(second.says("start job 2 6 site:1")).isTrue();
      assertThat(second.says("effect job 5")).as("a smaller fence").isFalse();
      assertThat(second.says("effect job 6")).isTrue();
    } finally {
      process.closeInput();
      process.process().waitFor();
    }

    List<String> said =
        Files.readAllLines(file).stream()
            .map(Entry::parse)
            .filter(entry -> !entry.is("hello"))
            .map(entry -> entry.who() + " " + entry.verb())
            .toList();
    assertThat(said)
        .startsWith("first start", "first gone", "second start", "second effect", "second effect");
  }
}
