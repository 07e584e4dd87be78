package dev.holdfast.cli;

import dev.holdfast.api.Json;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.logging.Formatter;
import java.util.logging.LogRecord;
import tools.jackson.databind.node.ObjectNode;

/**
 * Formats log lines for programs: one JSON object each, with {@code job}, {@code tenant}, {@code
 * attempt}.
 */
final class JsonLines extends Formatter {

  @Override
  public String format(LogRecord said) {
    ObjectNode line = Json.object();
    line.put("time", said.getInstant().toString());
    line.put("level", Logging.name(said.getLevel()));
    line.put("logger", said.getLoggerName());
    line.put("message", formatMessage(said));
    PlainLines.about().forEach(line::put);
    if (said.getThrown() != null) {
      StringWriter stack = new StringWriter();
      said.getThrown().printStackTrace(new PrintWriter(stack, true));
      line.put("error", stack.toString());
    }
    return Json.write(line) + "\n";
  }
}
