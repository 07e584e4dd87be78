package dev.holdfast.bench.workload;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The bench once more, in a process of its own that does one thing and says how it went. */
final class Fork implements AutoCloseable {

  private final Process process;

  private Fork(Process process) {
    this.process = process;
  }

  static Fork start(List<String> options, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    command.addAll(options);
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), "dev.holdfast.bench.Main"));
    command.addAll(arguments);
    return new Fork(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /** All that it says, once it has ended. */
  String answer() throws IOException, InterruptedException {
    String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IllegalStateException("the forked process failed: " + answer);
    }
    return answer;
  }

  @Override
  public void close() {
    process.destroy();
  }
}
