package dev.holdfast.queue;

import java.time.Instant;
import java.util.List;

/**
 * A part of what a job's attempts logged.
 *
 * @param offset where the next part begins, in bytes
 */
public record LogChunk(List<Line> lines, long offset) {

  /**
   * One line.
   *
   * @param fence the fence of the attempt that logged it
   */
  public record Line(Instant at, long fence, String text) {}
}
