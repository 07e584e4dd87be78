package dev.holdfast.interleaving;

import dev.holdfast.interleaving.Actor.Part;
import dev.holdfast.interleaving.Schedule.Variation;
import dev.holdfast.interleaving.Stage.Play;
import dev.holdfast.lease.Lease;
import dev.holdfast.rig.Sandbox;
import dev.holdfast.rig.Tampering;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Plays a scenario in all orders of statements that interrupt an actor only so often. */
final class Explorer implements AutoCloseable {

  /**
   * What was found.
   *
   * @param isComplete every order within the bound was played
   */
  record Found(int plays, int mostStatements, boolean isComplete, Optional<String> failure) {}

  private final Sandbox sandbox;
  private final Stage stage;

  Explorer(Tampering tampering) throws SQLException {
    sandbox = new Sandbox("interleaving", tampering, UnaryOperator.identity());
    stage = new Stage(sandbox.tenant().name(), tampering);
  }

  /** Fewer interruptions are tried before more, so that the first failure is a simple one. */
  Found explore(Scenario scenario, int mostPreemptions, int mostPlays)
      throws SQLException, InterruptedException {
    int plays = 0;
    int mostStatements = 0;
    List<Deque<Schedule>> toTry = new ArrayList<>();
    for (int i = 0; i <= mostPreemptions; i++) {
      toTry.add(new ArrayDeque<>());
    }
    toTry.getFirst().add(Schedule.ANY);
    for (int preemptions = 0; preemptions <= mostPreemptions; preemptions++) {
      while (!toTry.get(preemptions).isEmpty()) {
        if (plays == mostPlays) {
          return new Found(plays, mostStatements, false, Optional.empty());
        }
        Schedule schedule = toTry.get(preemptions).poll();
        Scene scene = new Scene(sandbox);
        scenario.prepare(scene);
        List<Part> parts = scenario.parts(scene);
        Play play = stage.play(parts, schedule, scene.now());
        plays++;
        mostStatements = Math.max(mostStatements, play.choices().size());
        List<String> complaints = complaints(scene, parts.size());
        if (!complaints.isEmpty()) {
          String failure = "%s:\n  %s\n  after\n%s".formatted(scenario, complaints, play);
          return new Found(plays, mostStatements, false, Optional.of(failure));
        }
        for (Variation variation : schedule.variations(play.choices())) {
          if (variation.preemptions() <= mostPreemptions) {
            toTry.get(variation.preemptions()).add(variation.schedule());
          }
        }
      }
    }
    return new Found(plays, mostStatements, true, Optional.empty());
  }

  private List<String> complaints(Scene scene, int actors) throws SQLException {
    List<String> complaints = new ArrayList<>();
    List<Lease> granted = new ArrayList<>();
    for (int i = 0; i < actors; i++) {
      stage.actor(i).failure().ifPresent(thrown -> complaints.add(thrown.toString()));
      granted.addAll(stage.actor(i).granted());
    }
    complaints.addAll(scene.complaints(granted));
    return complaints;
  }

  @Override
  public void close() throws SQLException {
    stage.close();
    sandbox.close();
  }
}
