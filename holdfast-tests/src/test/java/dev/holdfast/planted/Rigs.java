package dev.holdfast.planted;

import dev.holdfast.interleaving.InterleavingRun;
import dev.holdfast.lockorder.LockOrderRun;
import dev.holdfast.model.ModelRun;
import dev.holdfast.rig.Tampering;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Who looks at an engine that is tampered with, and what they see. */
final class Rigs {

  static final long COMMANDS = Long.getLong("holdfast.planted.commands", 8_000);
  private static final int PLAYS = Integer.getInteger("holdfast.planted.plays", 60);
  private static final int MINUTES = Integer.getInteger("holdfast.planted.minutes", 150);

  private Rigs() {}

  /** One that takes a while. */
  interface Look {
    Seen look() throws Exception;
  }

  /** What never ends, or cannot even be tried, has seen nothing. */
  static Seen inTime(Look look) throws InterruptedException {
    ExecutorService alone = Executors.newSingleThreadExecutor();
    Future<Seen> looking = alone.submit(look::look);
    try {
      return looking.get(MINUTES, TimeUnit.MINUTES);
    } catch (TimeoutException e) {
      return new Seen.Broken("it never ends");
    } catch (ExecutionException e) {
      return new Seen.Broken("cannot be tried: " + e.getCause());
    } finally {
      alone.shutdownNow();
    }
  }

  static Seen byModel(Tampering tampering, long commands) throws SQLException {
    return seen("the model", tampering, ModelRun.firstDisagreement(tampering, commands));
  }

  static Seen byInterleavings(Tampering tampering) throws SQLException, InterruptedException {
    return seen("the interleavings", tampering, InterleavingRun.firstFailure(tampering, PLAYS));
  }

  static Seen byOrderOfLocks(Tampering tampering) throws SQLException, InterruptedException {
    return seen("the order of locks", tampering, LockOrderRun.firstFailure(tampering));
  }

  private static Seen seen(String by, Tampering tampering, Optional<String> how) {
    if (tampering.trouble().isPresent()) {
      return new Seen.Broken("a statement " + tampering.trouble().get());
    }
    return how.<Seen>map(what -> new Seen.Effect(by, what)).orElseGet(Seen.Nothing::new);
  }

  /** A test that nobody gave a reason to fail. */
  static Seen unharmed(Trial.Run run) {
    return run.ended() && run.failures().isEmpty()
        ? new Seen.Nothing()
        : new Seen.Broken(run.ended() ? "fails: " + run.failures() : "it never ends");
  }
}
