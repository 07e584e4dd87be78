package dev.holdfast.interleaving;

import dev.holdfast.interleaving.Actor.Part;
import dev.holdfast.interleaving.Actor.Status;
import dev.holdfast.interleaving.Schedule.Choice;
import dev.holdfast.rig.Tampering;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Lets actors take turns, statement by statement, as a schedule says. */
final class Stage implements AutoCloseable {

  private static final int MOST_ACTORS = 3;
  private static final int NOBODY = -1;
  private static final long PATIENCE_NANOS = 20_000_000_000L;

  /** How a play went. */
  record Play(List<Choice> choices) {

    @Override
    public String toString() {
      StringBuilder text = new StringBuilder();
      choices.forEach(choice ->
          text.append("    ")
              .append(choice.chosen())
              .append(": ")
              .append(choice.statement())
              .append('\n'));
      return text.toString();
    }
  }

  private final List<Actor> actors = new ArrayList<>();
  private final Connection watch;
  private final PreparedStatement isBlocked;

  Stage(TenantName tenant, Tampering tampering) throws SQLException {
    for (int i = 0; i < MOST_ACTORS; i++) {
      actors.add(new Actor(tenant, tampering));
    }
    watch = DriverManager.getConnection(TestDatabase.shared().jdbcUrl());
    isBlocked = watch.prepareStatement("SELECT cardinality(pg_blocking_pids(?)) > 0");
  }

  Actor actor(int number) {
    return actors.get(number);
  }

  Play play(List<Part> parts, Schedule schedule, Instant now)
      throws SQLException, InterruptedException {
    List<Actor> playing = actors.subList(0, parts.size());
    for (int i = 0; i < parts.size(); i++) {
      playing.get(i).begin(parts.get(i), now);
    }
    List<Choice> choices = new ArrayList<>();
    int last = NOBODY;
    settle(playing);
    while (playing.stream().anyMatch(actor -> actor.status() != Status.DONE)) {
      List<Integer> enabled =
          IntStream.range(0, playing.size())
              .filter(i -> playing.get(i).status() == Status.AT_THE_GATE)
              .boxed()
              .toList();
      if (enabled.isEmpty()) {
        // A lock is being handed on; or, should they wait in a circle, the server will say so.
        awaitOne(playing);
        continue;
      }
      int chosen = choice(schedule, choices.size(), enabled, last);
      choices.add(new Choice(enabled, chosen, last, playing.get(chosen).next()));
      playing.get(chosen).go();
      settle(playing);
      last = chosen;
    }
    for (Actor actor : playing) {
      actor.join();
    }
    return new Play(choices);
  }

  // Where the server was slower than last time, somebody may still wait for a lock.
  private static int choice(Schedule schedule, int number, List<Integer> enabled, int last) {
    if (number < schedule.choices().size() && enabled.contains(schedule.choices().get(number))) {
      return schedule.choices().get(number);
    }
    return enabled.contains(last) ? last : enabled.getFirst();
  }

  private static void awaitOne(List<Actor> playing) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (playing.stream().noneMatch(actor -> actor.status() == Status.AT_THE_GATE)
        && playing.stream().anyMatch(actor -> actor.status() == Status.GOING)) {
      for (Actor actor : playing) {
        actor.awaitSettled(2);
      }
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("everybody waits for a lock");
      }
    }
  }

  /** Waits until everybody is at the gate, done, or waits for a lock that another one has. */
  private void settle(List<Actor> playing) throws SQLException, InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    boolean changed = true;
    while (changed) {
      changed = false;
      for (Actor actor : playing) {
        if (actor.status() == Status.GOING) {
          changed |= settle(actor, deadline);
        }
      }
    }
  }

  /** True when it got somewhere, and may have let others go on; false when it waits for a lock. */
  private boolean settle(Actor actor, long deadline) throws SQLException, InterruptedException {
    while (!actor.awaitSettled(2)) {
      if (isBlocked(actor)) {
        return false;
      }
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("neither blocked nor done: " + actor.next());
      }
    }
    return true;
  }

  private boolean isBlocked(Actor actor) throws SQLException {
    isBlocked.setInt(1, actor.backendPid());
    try (ResultSet row = isBlocked.executeQuery()) {
      row.next();
      return row.getBoolean(1);
    }
  }

  @Override
  public void close() throws SQLException {
    watch.close();
    for (Actor actor : actors) {
      actor.close();
    }
  }
}
