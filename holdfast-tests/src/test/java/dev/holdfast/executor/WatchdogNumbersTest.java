package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.Tools;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where many processes come and go, a number is somebody else's seconds after its owner's end. */
class WatchdogNumbersTest {

  private static final Path LAST_NUMBER = Path.of("/proc/sys/kernel/ns_last_pid");
  private static final long NEVER = Long.MAX_VALUE / 2;

  // Answers what it is told, in a group of its own.
  private static final String STRANGER =
      "exec 3<&0; echo $(($1 - 1)) >%s; setsid cat <&3 & echo $!; wait".formatted(LAST_NUMBER);

  @BeforeEach
  void need() {
    Tools.require(mayChoose(), "we may choose a process's number");
  }

  private static boolean mayChoose() {
    try {
      Files.writeString(LAST_NUMBER, Files.readString(LAST_NUMBER));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  @Timeout(60)
  void a_group_that_is_gone_is_not_signalled_again_whoever_has_its_number_now() throws Exception {
    try (Watchdog watchdog = new Watchdog(Shell.find(), Duration.ofMillis(100), Optional.empty())) {
      Process ours = new ProcessBuilder("setsid", "sleep", "600").start();
      watchdog.watch(ours.pid(), () -> NEVER);
      while (watchdog.isGone(ours.pid())) {
        Thread.onSpinWait(); // until it is a group
      }
      ours.destroyForcibly().waitFor();
      while (!watchdog.isGone(ours.pid())) {
        Thread.onSpinWait();
      }

      try (Stranger stranger = Stranger.called(ours.pid())) {
        watchdog.stop(ours.pid());
        assertThat(watchdog.isGone(ours.pid())).isTrue();
        watchdog.end(ours.pid());

        assertThat(stranger.answerTo("alive?")).isEqualTo("alive?");
      }
    }
  }

  /** A process that has nothing to do with us, but the number. */
  private record Stranger(Process shell, BufferedReader heard) implements AutoCloseable {

    static Stranger called(long number) throws IOException {
      while (true) { // another process may have been faster
        Process shell =
            new ProcessBuilder("bash", "-c", STRANGER, "stranger", String.valueOf(number)).start();
        BufferedReader heard = shell.inputReader();
        if (String.valueOf(number).equals(heard.readLine())) {
          return new Stranger(shell, heard);
        }
        shell.descendants().forEach(ProcessHandle::destroyForcibly);
        shell.destroyForcibly();
      }
    }

    String answerTo(String question) throws IOException {
      Writer told = shell.outputWriter();
      told.write(question + "\n");
      told.flush();
      return String.valueOf(heard.readLine());
    }

    @Override
    public void close() {
      shell.descendants().forEach(ProcessHandle::destroyForcibly);
      shell.destroyForcibly();
    }
  }
}
