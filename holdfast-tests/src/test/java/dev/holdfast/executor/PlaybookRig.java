package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Job;
import dev.holdfast.job.NewJob;
import dev.holdfast.testkit.Tools;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Real playbooks, by the real ansible-playbook, on this machine. */
abstract class PlaybookRig extends ExecutorTest {

  static final NodeAddress HERE =
      new NodeAddress(
          "7",
          "localhost",
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.of("local"));

  @TempDir Path directory;

  Path playbooks;
  Path scratch;

  @BeforeEach
  void need() throws IOException {
    Tools.require("ansible-playbook");
    playbooks = Files.createDirectory(directory.resolve("playbooks"));
    scratch = directory.resolve("scratch");
  }

  @AfterEach
  void nothing_is_left() throws IOException {
    if (Files.exists(scratch)) {
      try (Stream<Path> left = Files.list(scratch)) {
        assertThat(left).isEmpty();
      }
    }
  }

  void playbook(String tasks) throws IOException {
    Files.writeString(
        playbooks.resolve("play.yml"),
        "- hosts: all\n  gather_facts: false\n  tasks:\n" + tasks.stripTrailing().indent(4));
  }

  Job play(NodeAddress node, Map<String, Object> args) {
    return play(node, args, "play.yml");
  }

  Job play(NodeAddress node, Map<String, Object> args, String playbook) {
    return run(config(), catalog(node, playbook), deploy(args));
  }

  static NewJob deploy(Map<String, Object> args) {
    return NewJob.of("deploy", args);
  }

  ExecutorConfig config() {
    return ExecutorConfig.DEFAULTS.withPlaybooks(playbooks).withScratch(scratch);
  }

  static KindCatalog catalog(NodeAddress node, String playbook) {
    return new Fixed(playbook, Optional.of(node), Map.of("site_id", "42", "node_id", node.id()));
  }

  Job run(ExecutorConfig config, KindCatalog catalog, NewJob job) {
    UUID id = enqueue(job);
    try (JobExecutors executors = JobExecutors.open(Set.of("ansible"), config);
        Worker worker = executors.installOn(tenant.worker(), catalog).build()) {
      worker.runDue();
    }
    return tenant.job(id);
  }

  /** One kind, and one node. */
  record Fixed(String playbook, Optional<NodeAddress> node, Map<String, String> ids)
      implements KindCatalog {
    @Override
    public Set<String> kinds(Set<String> executors) {
      return Set.of("deploy");
    }

    @Override
    public Map<String, String> executors(String tenant) {
      return Map.of("deploy", "ansible");
    }

    @Override
    public Runbook runbook(JobContext job) {
      return new Runbook(Optional.of(playbook), node, ids);
    }
  }
}
