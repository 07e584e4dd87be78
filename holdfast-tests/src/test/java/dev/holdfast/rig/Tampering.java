package dev.holdfast.rig;

import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What is done on purpose to an engine, so that a rig is to notice: to its statements on their way
 * to the server, to its tables, or nothing at all. Remembers whether it worked: an engine whose
 * statements the server cannot read, or that binds more values than a statement has places for, is
 * not one without a guard, and that a rig notices it shows nothing. Thread-safe.
 */
public final class Tampering {

  private static final String CANNOT_BE_READ = "42"; // the class of SQLSTATEs for bad statements
  private static final String MERE_ABSENCE = "is not there to keep rows unique";

  private final UnaryOperator<String> rewrite;
  private final List<String> ddl;
  private final boolean isWatched;
  private int changed;
  private @Nullable String trouble;
  private @Nullable String absence;

  private Tampering(UnaryOperator<String> rewrite, List<String> ddl, boolean isWatched) {
    this.rewrite = rewrite;
    this.ddl = ddl;
    this.isWatched = isWatched;
  }

  /** Statements are watched, but left as they are. */
  public static Tampering nothing() {
    return new Tampering(UnaryOperator.identity(), List.of(), true);
  }

  public static Tampering with(UnaryOperator<String> rewrite) {
    return new Tampering(rewrite, List.of(), true);
  }

  /** With tables, too. That a view says an index is missing is then set aside. */
  public static Tampering with(UnaryOperator<String> rewrite, List<String> ddl) {
    return new Tampering(rewrite, ddl, true);
  }

  /** Nobody asks later how it went. */
  static Tampering unwatched(UnaryOperator<String> rewrite) {
    return new Tampering(rewrite, List.of(), false);
  }

  /** Done to a tenant each time that it is made. */
  List<String> ddl() {
    return ddl;
  }

  boolean isWatched() {
    return isWatched;
  }

  String apply(String sql) {
    String rewritten = rewrite.apply(sql);
    if (!rewritten.equals(sql)) {
      changed(sql, rewritten);
    }
    return rewritten;
  }

  private synchronized void changed(String sql, String rewritten) {
    changed++;
    if (places(sql) != places(rewritten)) {
      trouble("has places for %d values instead of %d", places(rewritten), places(sql), rewritten);
    }
  }

  /** How many values a statement has places for. */
  public static long places(String sql) {
    return sql.chars().filter(each -> each == '?').count();
  }

  /** The server refused a statement. */
  synchronized void refused(String sql, SQLException why) {
    if (String.valueOf(why.getSQLState()).startsWith(CANNOT_BE_READ)) {
      trouble("cannot be read: %s %s", why.getSQLState(), why.getMessage(), sql);
    }
  }

  private void trouble(String format, Object one, Object other, String sql) {
    if (trouble == null) {
      trouble = format.formatted(one, other) + ": " + sql.strip().lines().findFirst().orElse("");
    }
  }

  /** How many statements went to the server otherwise than the engine wrote them. */
  public synchronized int changes() {
    return changed;
  }

  /** Why it is no use to ask whether a rig noticed it. */
  public synchronized Optional<String> trouble() {
    return Optional.ofNullable(trouble);
  }

  /**
   * Whether a violation says no more than that an index is gone, which somebody took away here on
   * purpose: it is remembered, and is no effect.
   */
  public synchronized boolean isMereAbsence(String violation) {
    boolean isIt = !ddl.isEmpty() && violation.contains(MERE_ABSENCE);
    if (isIt) {
      absence = violation;
    }
    return isIt;
  }

  /** What was said of an index that is gone, if anybody did. */
  public synchronized Optional<String> absence() {
    return Optional.ofNullable(absence);
  }
}
