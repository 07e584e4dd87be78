package dev.holdfast.cli;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.api.Json;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.queue.LogChunk;
import java.io.PrintWriter;
import java.util.UUID;

/** Prints a job's log as it grows. */
final class JobLog {

  private static final int LINES_AT_ONCE = 500;

  private final HoldfastClient client;
  private final UUID id;
  private final PrintWriter out;
  private final Remote.Output output;
  private final boolean toTerminal = Terminal.is(1); // piped output is exactly what the job wrote
  private long offset;

  JobLog(HoldfastClient client, UUID id, PrintWriter out, Remote.Output output) {
    this.client = client;
    this.id = id;
    this.out = out;
    this.output = output;
  }

  JobLog from(long bytes) {
    offset = bytes;
    return this;
  }

  /** Whether anybody still reads what is printed. Known only after something was. */
  boolean isRead() {
    // Both flush what was printed before they look. picocli's writer stands before System.out,
    // which keeps its errors to itself.
    return !out.checkError() && !System.out.checkError();
  }

  private void print(LogChunk.Line line) {
    switch (output) {
      case TABLE -> out.println(toTerminal ? Terminal.harmless(line.text()) : line.text());
      case JSON ->
          out.println(
              Terminal.harmlessJson(
                  Json.write(
                      Json.object().put("at", line.at().toString()).put("line", line.text()))));
    }
  }

  /**
   * Prints the new lines, while anybody reads them. Returns the job as it was before they were
   * asked for, so that no line is missed when it has ended.
   */
  Job printNew() {
    Job job =
        client
            .get(id)
            .orElseThrow(() -> new HoldfastException(ErrorCode.NOT_FOUND, "no job " + id));
    boolean more = isRead();
    while (more) {
      more = printSome() && isRead();
    }
    return job;
  }

  private boolean printSome() {
    LogChunk chunk = client.log(id, offset, LINES_AT_ONCE);
    chunk.lines().forEach(this::print);
    offset = chunk.offset();
    return !chunk.lines().isEmpty();
  }
}
