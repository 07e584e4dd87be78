package dev.holdfast.planted;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** One place in a source where something is taken away, and what stands there instead. */
record Cut(String module, String source, Pattern guard, String instead) {

  static Cut inCore(String source, String guard, String instead) {
    return new Cut("holdfast-core", source, Pattern.compile(guard), instead);
  }

  static Cut inServer(String source, String guard, String instead) {
    return new Cut("holdfast-server", "server/" + source, Pattern.compile(guard), instead);
  }

  static Cut inExecutors(String source, String guard, String instead) {
    return new Cut("holdfast-executors", "executor/" + source, Pattern.compile(guard), instead);
  }

  /** Below the folder of a module's sources. */
  String path() {
    return "dev/holdfast/" + source + ".java";
  }

  String text() throws IOException {
    return Files.readString(Path.of("..", module, "src", "main", "java").resolve(path()));
  }

  boolean isThere() throws IOException {
    return guard.matcher(text()).find();
  }

  String made() throws IOException {
    return guard.matcher(text()).replaceAll(instead);
  }
}
