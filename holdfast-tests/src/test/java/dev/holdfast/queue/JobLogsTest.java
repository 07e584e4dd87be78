package dev.holdfast.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Kind;
import dev.holdfast.testkit.TestTenant;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class JobLogsTest {

  private static final Kind<Integer> WORK = Kind.of("work", Integer.class);
  private static final int LINES = 7;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  // Whether they are found from the log's end or from its beginning depends on both.
  @Test
  void whatever_the_offset_and_the_limit_the_next_lines_come_in_order() {
    UUID id = tenant.jobs().enqueue(WORK.job(1)).id();
    List<String> lines = IntStream.range(0, LINES).mapToObj("x"::repeat).toList();
    tenant.worker().handle(WORK, (args, context) -> lines.forEach(context::log)).build().runDue();
    long ends = lines.stream().mapToLong(line -> line.length() + 1).sum();

    for (int limit = 1; limit <= LINES + 1; limit++) {
      for (long offset = 0; offset <= ends; offset++) {
        LogChunk chunk = tenant.jobs().log(id, offset, limit);

        List<String> next = after(lines, offset).stream().limit(limit).toList();
        assertThat(chunk.lines())
            .as("from %d, at most %d", offset, limit)
            .extracting(LogChunk.Line::text)
            .containsExactlyElementsOf(next);
      }
    }
    assertThat(tenant.jobs().log(id, 0, LINES).offset()).isEqualTo(ends);
  }

  private static List<String> after(List<String> lines, long offset) {
    long end = 0;
    int passed = 0;
    while (passed < lines.size() && end + lines.get(passed).length() + 1 <= offset) {
      end += lines.get(passed).length() + 1;
      passed++;
    }
    return lines.subList(passed, lines.size());
  }
}
