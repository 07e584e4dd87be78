package dev.holdfast.cli;

import dev.holdfast.error.HoldfastException;
import java.util.List;
import java.util.Map;
import java.util.logging.ConsoleHandler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.Logger;

/**
 * What is logged goes to the error output: a line for people at a terminal, a JSON object a line
 * for everybody else. By {@code java.util.logging}, which every Java has and which starts at once.
 */
final class Logging {

  // Others' words only when something is wrong.
  private static final Map<String, Level> QUIET =
      Map.of(
          "com.zaxxer", Level.WARNING,
          "io.javalin", Level.WARNING,
          "org.eclipse.jetty", Level.WARNING);

  /** Loggers that nobody holds are forgotten, and their levels with them. */
  private static final class Kept {
    private static final List<Logger> LOGGERS =
        QUIET.keySet().stream().map(Logger::getLogger).toList();
  }

  /** How lines look. */
  enum Format {
    PLAIN,
    JSON;

    /** Refuses what is none. */
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

  /** Keeps its handlers until the process is gone: what happens while it ends is logged, too. */
  public static final class LastingManager extends LogManager {
    @Override
    public void reset() {
      // Java's own hook would silence everybody else's.
    }
  }

  /** Before anything else: who logs first decides which manager there is. */
  static void prepare() {
    System.setProperty("java.util.logging.manager", LastingManager.class.getName());
    use(Format.PLAIN, Level.WARNING);
  }

  /** From now on. */
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

  /** By the names that SLF4J gives levels. */
  static Level level(String name) {
    return switch (name) {
      case "error" -> Level.SEVERE;
      case "warn" -> Level.WARNING;
      case "info" -> Level.INFO;
      case "debug" -> Level.FINE;
      default -> throw HoldfastException.badConfig("--log-level", name, "error, warn, info, debug");
    };
  }

  /** The same names the other way. */
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
