package dev.holdfast.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.TreeMap;
import java.util.logging.Formatter;
import java.util.logging.LogRecord;
import org.slf4j.MDC;

/** Formats log lines for people: time, level, logger, message, and the job it is about. */
final class PlainLines extends Formatter {

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSXXX").withZone(ZoneId.systemDefault());

  @Override
  public String format(LogRecord said) {
    StringWriter text = new StringWriter();
    PrintWriter line = new PrintWriter(text);
    line.print(TIME.format(said.getInstant()));
    line.print(' ');
    line.printf("%-5s ", Logging.name(said.getLevel()));
    String logger = String.valueOf(said.getLoggerName());
    line.print(logger.substring(logger.lastIndexOf('.') + 1));
    line.print(" - ");
    line.print(formatMessage(said));
    Map<String, String> about = about();
    if (!about.isEmpty()) {
      line.print(' ');
      line.print(about);
    }
    line.println();
    if (said.getThrown() != null) {
      said.getThrown().printStackTrace(line);
    }
    return text.toString();
  }

  /** The logging context of the line: the job, tenant and attempt. */
  static Map<String, String> about() {
    Map<String, String> context = MDC.getCopyOfContextMap();
    return context == null ? Map.of() : new TreeMap<>(context);
  }
}
