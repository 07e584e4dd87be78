package dev.holdfast.cli;

import dev.holdfast.error.HoldfastException;
import java.util.List;
import java.util.Map;
import java.util.logging.ConsoleHandler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.Logger;

/**
 * Sends the log to standard error: plain lines on a terminal, otherwise one JSON object per line.
 * It uses {@code java.util.logging}, which is part of Java and starts quickly.
 */
final class Logging {

  // Libraries log only when something is wrong.
  private static final Map<String, Level> QUIET =
      Map.of(
          "com.zaxxer", Level.WARNING,
          "io.javalin", Level.WARNING,
          "org.eclipse.jetty", Level.WARNING);

  /** Loggers without a reference are garbage-collected, and their levels with them. */
  private static final class Kept {
    private static final List<Logger> LOGGERS =
        QUIET.keySet().stream().map(Logger::getLogger).toList();
  }

  /** The format of lines. */
  enum Format {
    PLAIN,
    JSON;

    /** Refuses unknown names. */
    static Format of(String name) {
      return switch (name) {
        case "auto" -> Terminal.is(2) ? PLAIN : JSON;
        case "plain" -> PLAIN;
        case "json" -> JSON;
        default -> throw HoldfastException.badConfig("--log-format", name, "auto, plain, json");
      };
    }
  }

  private Logging() {}

  /**
   * Keeps its handlers until the process is gone, so that what happens during the shutdown is
   * logged.
   */
  public static final class LastingManager extends LogManager {
    @Override
    public void reset() {
      // Java's own shutdown hook would end all logging.
    }
  }

  /** Must be called first, because the first use of logging chooses the manager. */
  static void prepare() {
    System.setProperty("java.util.logging.manager", LastingManager.class.getName());
    use(Format.PLAIN, Level.WARNING);
  }

  /** Sets the format and the level, from now on. */
  static void use(Format format, Level level) {
    Logger root = Logger.getLogger("");
    for (var handler : root.getHandlers()) {
      root.removeHandler(handler);
    }
    ConsoleHandler handler = new ConsoleHandler();
    handler.setLevel(Level.ALL);
    handler.setFormatter(
        switch (format) {
          case PLAIN -> new PlainLines();
          case JSON -> new JsonLines();
        });
    root.addHandler(handler);
    root.setLevel(level);
    Kept.LOGGERS.forEach(logger -> logger.setLevel(QUIET.get(logger.getName())));
  }

  /** The level with this name, as in SLF4J. */
  static Level level(String name) {
    return switch (name) {
      case "error" -> Level.SEVERE;
      case "warn" -> Level.WARNING;
      case "info" -> Level.INFO;
      case "debug" -> Level.FINE;
      default -> throw HoldfastException.badConfig("--log-level", name, "error, warn, info, debug");
    };
  }

  /** The name of a level, as in SLF4J. */
  static String name(Level level) {
    if (level.intValue() >= Level.SEVERE.intValue()) {
      return "ERROR";
    }
    if (level.intValue() >= Level.WARNING.intValue()) {
      return "WARN";
    }
    return level.intValue() >= Level.INFO.intValue() ? "INFO" : "DEBUG";
  }
}
