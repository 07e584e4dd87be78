package dev.holdfast.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobAct;
import dev.holdfast.model.Command.AskStop;
import dev.holdfast.model.Command.Beat;
import dev.holdfast.model.Command.Change;
import dev.holdfast.model.Command.Claim;
import dev.holdfast.model.Command.Decide;
import dev.holdfast.model.Command.DeleteSchedule;
import dev.holdfast.model.Command.Do;
import dev.holdfast.model.Command.Drain;
import dev.holdfast.model.Command.End;
import dev.holdfast.model.Command.Enqueue;
import dev.holdfast.model.Command.Extras;
import dev.holdfast.model.Command.Finish;
import dev.holdfast.model.Command.FreeResource;
import dev.holdfast.model.Command.How;
import dev.holdfast.model.Command.Inspect;
import dev.holdfast.model.Command.Plan;
import dev.holdfast.model.Command.PutSchedule;
import dev.holdfast.model.Command.Reap;
import dev.holdfast.model.Command.Recover;
import dev.holdfast.model.Command.Remake;
import dev.holdfast.model.Command.SetCapacity;
import dev.holdfast.model.Command.SetQueue;
import dev.holdfast.model.Command.Spec;
import dev.holdfast.model.Command.Start;
import dev.holdfast.model.Command.Sweep;
import dev.holdfast.model.Command.Tell;
import dev.holdfast.model.Command.Tick;
import dev.holdfast.model.Command.Trigger;
import dev.holdfast.model.Sequences.Failed;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is kept of a sequence that failed is what was done. */
class CommandFileTest {

  private static final Spec SPEC =
      new Spec(
          "deploy",
          -1,
          new TreeSet<>(Set.of("a", "target:t")),
          Optional.of("t"),
          Optional.of("north"),
          true,
          3,
          2,
          30,
          15,
          Optional.of(4),
          true,
          false,
          true,
          new Extras("narrow", true, Optional.of("red"), Optional.of(100), Optional.empty()));

  private static final List<Command> COMMANDS =
      List.of(
          new Enqueue(0, SPEC),
          new Claim("w1", 3, Set.of("deploy"), Optional.of("claim-0"), true),
          new Beat(0, 1),
          new Start(0, 1),
          new AskStop(0, 1),
          new Tell(0, 1, 20, List.of("item 1", "item 1"), Optional.of("key 2")),
          new Finish(List.of(new End(0, 0, How.SUCCEEDED), new End(1, 2, How.SNOOZED_A_WHILE))),
          new Tick(62),
          new Reap(),
          new Sweep(),
          new Do(JobAct.CHANGE, true, 0, new Change(Optional.of(-7), Optional.empty())),
          new SetCapacity("a", 2),
          new FreeResource("target:t"),
          new SetQueue("narrow", true, Optional.of(1)),
          new PutSchedule(new Plan("brief", 20, SPEC, true, 15, 2, 10, false)),
          new DeleteSchedule("brief"),
          new Decide(),
          new Trigger("brief", 1_767_225_600L),
          new Recover("w2"),
          new Remake(true),
          new Inspect(),
          new Drain());

  @TempDir Path directory;

  @Test
  void every_kind_of_command_is_read_as_it_was_written() throws Exception {
    Failed failed = new Failed("first:7", COMMANDS, new RuntimeException("one\n  two"));

    Path file = CommandFile.write(directory, failed);

    assertThat(CommandFile.read(file)).isEqualTo(COMMANDS);
    assertThat(CommandFile.in(directory)).containsExactly(file);
    assertThat(COMMANDS.stream().map(Object::getClass))
        .containsExactlyInAnyOrder(Command.class.getPermittedSubclasses());
  }
}
