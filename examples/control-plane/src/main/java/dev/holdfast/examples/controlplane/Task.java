package dev.holdfast.examples.controlplane;

import java.util.Arrays;
import java.util.Optional;

/** What can be done to an environment: a kind of job, its playbook, and the state meanwhile. */
enum Task {
  CLONE("env_create", "clone.yml", "cloning"),
  DEPLOY("env_deploy", "deploy.yml", "deploying"),
  RESTORE("env_restore", "restore.yml", "restoring");

  private final String kind;
  private final String playbook;
  private final String during;

  Task(String kind, String playbook, String during) {
    this.kind = kind;
    this.playbook = playbook;
    this.during = during;
  }

  static Optional<Task> ofKind(String kind) {
    return Arrays.stream(values()).filter(task -> task.kind.equals(kind)).findFirst();
  }

  String kind() {
    return kind;
  }

  String playbook() {
    return playbook;
  }

  String during() {
    return during;
  }
}
