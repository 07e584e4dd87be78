package dev.holdfast.server.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What PostgreSQL's programs are after a power cut: told by what the JVM wrote and forced. */
class BinariesTest {

  private static final String WRITE = "jdk.FileWrite";
  private static final String FORCE = "jdk.FileForce";

  @TempDir Path directory;

  @Test
  void programs_are_on_disk_before_anything_says_that_they_are_whole() throws Exception {
    Path data = Files.createDirectory(directory.resolve("data"));

    List<String> done = recorded(() -> Binaries.in(data, any -> {}));

    String draft = data.resolve("postgres.new").toString();
    String origin = draft + "/unpacked-from.sha256";
    int saidSo = done.indexOf(WRITE + " " + origin);
    assertThat(done.subList(0, saidSo)).containsAll(forced(data.resolve("postgres"), draft));
    assertThat(done.subList(saidSo, done.size()))
        .containsSubsequence(FORCE + " " + origin, FORCE + " " + draft, FORCE + " " + data);
  }

  /** What there is now, and in which directory, but for what says that it is whole. */
  private static List<String> forced(Path home, String draft) throws IOException {
    try (Stream<Path> files = Files.walk(home)) {
      return files
          .filter(file -> !Files.isSymbolicLink(file) && !file.endsWith("unpacked-from.sha256"))
          .map(file -> FORCE + " " + Path.of(draft).resolve(home.relativize(file)))
          .toList();
    }
  }

  private interface Work {
    Object run() throws IOException;
  }

  private List<String> recorded(Work work) throws IOException {
    Path file = directory.resolve("done.jfr");
    try (Recording recording = new Recording()) {
      for (String event : List.of(WRITE, FORCE)) {
        recording.enable(event).withoutThreshold().withoutStackTrace();
      }
      recording.start();
      assertThat(work.run()).isNotNull();
      recording.stop();
      recording.dump(file);
    }
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.hasField("path")) // not what other tests record meanwhile
        .sorted(Comparator.comparing(RecordedEvent::getStartTime))
        .map(event -> event.getEventType().getName() + " " + event.getString("path"))
        .toList();
  }
}
