package dev.holdfast.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Commands that wait for each other, and for whoever wants to look at them while they run. */
record ShellBarrier(Path directory) {

  static ShellBarrier in(Path parent) throws IOException {
    return new ShellBarrier(Files.createDirectory(parent.resolve("barrier")));
  }

  /** For a shell, with the job's id in its environment. */
  String command() {
    return command("$HOLDFAST_JOB_ID");
  }

  String command(String id) {
    return "touch %1$s/%2$s; while [ ! -e %1$s/open ]; do sleep 0.05; done"
        .formatted(directory, id);
  }

  /** Until so many have come. */
  void await(int count) throws IOException {
    while (true) {
      try (Stream<Path> there = Files.list(directory)) {
        if (there.count() >= count) {
          return;
        }
      }
      Thread.onSpinWait();
    }
  }

  void open() throws IOException {
    Files.createFile(directory.resolve("open"));
  }
}
