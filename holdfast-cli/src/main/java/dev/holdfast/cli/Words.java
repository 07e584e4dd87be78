package dev.holdfast.cli;

import dev.holdfast.job.JobAct;
import dev.holdfast.job.JobState;
import dev.holdfast.server.auth.Role;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;

/**
 * Describes the parameters of commands in a sentence, and lists the values that some of them allow.
 */
final class Words {

  private static final Map<String, String> MEANINGS =
      Map.ofEntries(
          Map.entry("action", "What to do to them."),
          Map.entry("after", "Goes on where the page before ended."),
          Map.entry("args", "The job's arguments."),
          Map.entry("capacity", "How many jobs may have it at once."),
          Map.entry("coalesce", "Whether slots that were missed become one."),
          Map.entry("concurrency_limit", "How many of its jobs may run at once."),
          Map.entry("connection", "How Ansible reaches it, like ssh or local."),
          Map.entry("count", "How many."),
          Map.entry("cron", "Five fields, like '30 2 * * *'."),
          Map.entry("defaults", "Policy of jobs that do not say otherwise."),
          Map.entry("delay_seconds", "Due so long from now."),
          Map.entry("dry_run", "Only says what would happen."),
          Map.entry("dst", "What to do when clocks change: {\"twice\": …, \"missing\": …}."),
          Map.entry("enabled", "Whether it fires."),
          Map.entry("environment_id", "The environment it works on."),
          Map.entry(
              "events", "What to tell: job_failed, old_block, slot_missed, invariant_violated."),
          Map.entry("every_seconds", "An interval instead of cron."),
          Map.entry("executor", "What runs its jobs."),
          Map.entry("expected_runtime_seconds", "Twice that, and a run counts as dead."),
          Map.entry("expires_at", "When it ends by itself, like 2027-01-31T12:00:00Z."),
          Map.entry("force", "Also where the state is against it; you answer for it."),
          Map.entry("from", "From this moment on; from now unless said."),
          Map.entry("host", "A name or an address."),
          Map.entry("id", "A UUID; the same one again is the same job."),
          Map.entry("key_file", "The private key, on the machine that runs the job."),
          Map.entry("kind", "What the job is, and so who can run it."),
          Map.entry("labels", "What a worker must be labelled with, like {\"gpu\": \"yes\"}."),
          Map.entry("lease_seconds", "How long a silent worker keeps it."),
          Map.entry("limit", "How many at most."),
          Map.entry("max_attempts", "How often it is tried."),
          Map.entry("max_instances", "How many runs of it may overlap."),
          Map.entry("misfire_grace_seconds", "How late a slot may still fire."),
          Map.entry("name", "Its name."),
          Map.entry("node_id", "The node it is run on."),
          Map.entry("node_targeted", "Whether its jobs must name a node."),
          Map.entry("on_failure", "What its target does when it fails for good."),
          Map.entry("on_lease_lost", "What to do when its worker falls silent."),
          Map.entry("on_stop", "What becomes of it when it is stopped."),
          Map.entry("paused", "Whether nothing of it is started."),
          Map.entry("pending", "Not to be run before it is released."),
          Map.entry("playbook", "A path inside the directory of playbooks."),
          Map.entry("port", "Its port."),
          Map.entry("preferred_host", "The host that gets it first."),
          Map.entry("priority", "Smaller runs first."),
          Map.entry("queue", "The queue; 'default' unless said."),
          Map.entry("reason", "Why; it is kept in the record of acts."),
          Map.entry("require_host", "No other host than the preferred one."),
          Map.entry("resources", "What it needs to itself, like site:1,node:7."),
          Map.entry("result", "What it would have answered."),
          Map.entry("retry", "When to try again, like {\"type\": \"exponential\"}."),
          Map.entry("role", "What it may do."),
          Map.entry("run_at", "Due at a moment, like 2027-01-31T12:00:00Z."),
          Map.entry("scheduled_for", "The slot; now unless said."),
          Map.entry("secret", "Signs what is sent."),
          Map.entry("settings", "What it fixes, like {\"argv\": [\"/bin/deploy\", \"{site}\"]}."),
          Map.entry("site_id", "The site it works on."),
          Map.entry("subject", "What it works on: {\"type\": …, \"id\": …}."),
          Map.entry("subject_during", "The state its subject is in while it runs."),
          Map.entry("tags", "Words to find it by."),
          Map.entry("target", "Jobs of one target run one after the other."),
          Map.entry("target_count", "The results it is for; with so many it is done."),
          Map.entry("timeout_seconds", "How long an attempt may take."),
          Map.entry("timezone", "Whose clock, like Europe/Berlin; UTC unless said."),
          Map.entry("traceparent", "The trace it belongs to."),
          Map.entry("tracestate", "What goes with the trace."),
          Map.entry("type", "What sort of subject, like site."),
          Map.entry("unique_key", "Not while another unfinished job has the same."),
          Map.entry("url", "Where to tell it."),
          Map.entry("user", "Who logs in."),
          Map.entry("value", "The new value."));

  private static final Map<String, String> FILTERS =
      Map.of(
          "state", "In this state.",
          "queue", "Of this queue.",
          "kind", "Of this kind.",
          "target", "Of this target.",
          "resource", "That need this resource.",
          "tag", "With this tag.",
          "worker", "That this worker has.",
          "error", "With this error code, or with this in the error message.");

  private static final Map<String, List<String>> CHOICES =
      Map.of(
          "state", Arrays.stream(JobState.values()).map(JobState::stored).toList(),
          "action",
              EnumSet.range(JobAct.CANCEL, JobAct.RESOLVE).stream().map(JobAct::stored).toList(),
          "role", Arrays.stream(Role.values()).map(Role::stored).toList(),
          "executor", List.of("process", "http", "container", "ansible"),
          "on_failure", List.of("release", "hold"),
          "on_lease_lost", List.of("retry", "fail"),
          "on_stop", List.of("cancel", "pause"));

  private Words() {}

  static String meaning(Verb.Part part) {
    boolean filters = part.place() == Verb.Place.QUERY || part.name().startsWith("filter.");
    String field = part.field();
    String filter = FILTERS.get(field);
    return filters && filter != null ? filter : meaning(field);
  }

  static String meaning(String field) {
    String known = MEANINGS.get(field);
    if (known == null) {
      throw new IllegalStateException("nobody says what " + field + " means");
    }
    return known;
  }

  /** All allowed values; empty where any is allowed. */
  static List<String> choices(Verb.Part part) {
    return CHOICES.getOrDefault(part.field(), List.of());
  }
}
