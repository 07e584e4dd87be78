package dev.holdfast.server.http;

import dev.holdfast.api.Json;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.SqlErrors;
import java.sql.SQLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/** Turns exceptions into problems of RFC 9457 with a stable code. Never shows a stack trace. */
public final class Problems {

  private static final Logger log = LoggerFactory.getLogger(Problems.class);

  private Problems() {}

  /** What to tell the client about an exception, in whatever form. */
  public static Refusal refusal(Exception e) {
    return switch (e) {
      case Refusal.Refused refused -> refused.refusal();
      case HoldfastException failure -> refusal(failure);
      default -> {
        log.error("A request failed", e);
        yield new Refusal(500, "INTERNAL", "Something went wrong here; the log says what");
      }
    };
  }

  private static Refusal refusal(HoldfastException e) {
    String code = e.code().name();
    String detail = String.valueOf(e.getMessage());
    return switch (e.code()) {
      case INVALID_ARGUMENT, BAD_PAYLOAD -> {
        if (e.getCause() instanceof SQLException) { // its message is about our tables
          log.warn("The database refused a value", e);
          yield new Refusal(400, code, "A value is one that the database cannot keep");
        }
        yield new Refusal(400, code, detail);
      }
      case FORBIDDEN -> new Refusal(403, code, detail);
      case NOT_FOUND -> new Refusal(404, code, detail);
      case STATE_CONFLICT, LEASE_LOST -> new Refusal(409, code, detail);
      case DATABASE -> {
        log.warn("The database failed", e);
        if (SqlErrors.isDiskFull(e)) {
          yield new Refusal(503, "DISK_FULL", "The database's disk is full; nothing was stored");
        }
        yield new Refusal(503, code, "The database cannot be reached, or is busy; try again");
      }
      case UNAVAILABLE -> new Refusal(503, code, detail);
      case BAD_CONFIG, UNKNOWN_KIND, SCHEMA_MISMATCH -> {
        log.error("A request failed", e);
        yield new Refusal(
            500,
            ErrorCode.SCHEMA_MISMATCH.name().equals(code) ? code : "INTERNAL",
            "Something is wrong with this server; its log says what");
      }
    };
  }

  static Answer of(Refusal refusal) {
    ObjectNode json = Json.object();
    json.put("type", "about:blank");
    json.put("title", title(refusal.status()));
    json.put("status", refusal.status());
    json.put("code", refusal.code());
    json.put("detail", refusal.detail());
    refusal.more().forEach(json::put);
    return Answer.json(refusal.status(), "application/problem+json", json);
  }

  public static String title(int status) {
    return switch (status) {
      case 400 -> "Bad request";
      case 401 -> "Who are you?";
      case 403 -> "Not allowed";
      case 404 -> "Not found";
      case 405 -> "Method not allowed";
      case 408 -> "Request timeout";
      case 409 -> "Conflict";
      case 413 -> "Too large";
      case 414 -> "Address too long";
      case 415 -> "Unsupported media type";
      case 421 -> "Misdirected request";
      case 431 -> "Headers too large";
      case 429 -> "Too many requests";
      case 503 -> "Unavailable";
      default -> status < 500 ? "Bad request" : "Internal error";
    };
  }
}
