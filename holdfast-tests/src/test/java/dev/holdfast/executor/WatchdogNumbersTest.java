package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Where many processes come and go, a number is somebody else's seconds after its owner's end. No
 * system gives out numbers on order, so here the watchdog is told by a file whether there is a
 * group of that number, and what it sends is written down.
 */
@Timeout(60)
class WatchdogNumbersTest {

  private static final String KILL = "kill() { echo \"$1\" >>\"$SENT\"; [[ -e $EXISTS ]]; }\n";
  private static final String NEVER = "99999999999999";

  @TempDir Path directory;

  @Test
  void a_group_that_is_gone_is_not_signalled_again_whoever_has_its_number_now() throws Exception {
    Path group = directory.resolve("group");
    Files.createFile(group);
    try (Told watchdog = new Told()) {
      watchdog.say("watch 4242 " + NEVER);
      assertThat(watchdog.say("gone 4242")).isEqualTo("no");
      Files.delete(group);
      assertThat(watchdog.say("gone 4242")).isEqualTo("ok");
      Files.createFile(group); // a stranger's

      watchdog.say("renew 4242 0");
      watchdog.say("stop 4242");
      assertThat(watchdog.say("gone 4242")).isEqualTo("ok");
      watchdog.say("end 4242");
    }

    assertThat(sent()).containsOnly("-0");
  }

  @Test
  void a_group_that_nobody_has_seen_yet_is_ended_all_the_same() throws Exception {
    try (Told watchdog = new Told()) {
      watchdog.say("watch 4242 0");
    }

    assertThat(sent()).contains("-TERM", "-KILL");
  }

  private List<String> sent() throws IOException {
    return Files.readAllLines(directory.resolve("sent"));
  }

  private final class Told implements AutoCloseable {

    private final Process process;
    private final BufferedReader answers;
    private final Writer questions;

    Told() throws IOException {
      ProcessBuilder builder = new ProcessBuilder("bash", "-c", KILL + script(), "watchdog", "0");
      builder.environment().put("SENT", directory.resolve("sent").toString());
      builder.environment().put("EXISTS", directory.resolve("group").toString());
      process = builder.start();
      answers = process.inputReader();
      questions = process.outputWriter();
    }

    private static String script() throws IOException {
      try (InputStream script = Watchdog.class.getResourceAsStream("watchdog.sh")) {
        return new String(Objects.requireNonNull(script).readAllBytes(), StandardCharsets.UTF_8);
      }
    }

    /** It looks at all groups after each answer, before it hears the next. */
    String say(String line) throws IOException {
      questions.write(line + "\n");
      questions.flush();
      return String.valueOf(answers.readLine());
    }

    @Override
    public void close() throws Exception {
      questions.close();
      process.waitFor();
    }
  }
}
