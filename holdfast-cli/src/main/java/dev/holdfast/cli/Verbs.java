package dev.holdfast.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The table of commands that send one request each. */
final class Verbs {

  private static final String[] JOB_COLUMNS = {
    "id", "state", "queue", "kind", "attempt", "run_at", "error_code"
  };
  private static final String[] JOB_FILTERS = {
    "state", "queue", "kind", "target", "resource", "tag", "worker", "error"
  };

  private static final Map<String, String> ACTS = acts();

  private Verbs() {}

  private static Map<String, String> acts() {
    Map<String, String> acts = new LinkedHashMap<>();
    acts.put("cancel", "Cancels a job; what it did so far stays done.");
    acts.put("stop", "Stops a job; its policy says whether it is then cancelled or paused.");
    acts.put("pause", "Pauses a job, and its target with it, until somebody resumes it.");
    acts.put("resume", "Puts a paused or failed job back to its place, with one more attempt.");
    acts.put("retry", "Runs a failed or cancelled job once more, now.");
    acts.put("requeue", "Takes a job from its worker and puts it back into the queue.");
    acts.put("fail", "Says that a job has failed.");
    return acts;
  }

  static List<Verb> all() {
    List<Verb> verbs = new ArrayList<>(jobs());
    verbs.addAll(ofTheQueue());
    verbs.addAll(schedules());
    verbs.addAll(registry());
    verbs.addAll(administration());
    return verbs;
  }

  private static List<Verb> jobs() {
    List<Verb> verbs = new ArrayList<>();
    verbs.add(
        Verb.get("jobs list", "/jobs", "Lists jobs, newest first.")
            .columns(JOB_COLUMNS)
            .queries(JOB_FILTERS)
            .paged());
    verbs.add(Verb.get("jobs show", "/jobs/{id}", "Shows a job."));
    verbs.add(Verb.get("jobs why", "/jobs/{id}/why", "Says why a job is not running."));
    verbs.add(
        Verb.get("jobs attempts", "/jobs/{id}/attempts", "Lists a job's attempts.")
            .columns("attempt", "outcome", "worker", "started_at", "finished_at", "error_code"));
    ACTS.forEach((act, summary) ->
        verbs.add(
            Verb.of("jobs " + act, "POST", "/jobs/{id}/" + act, summary)
                .says("reason", Verb.Type.TEXT)
                .says("force", Verb.Type.FLAG)));
    verbs.add(
        Verb.of(
                "jobs resolve",
                "POST",
                "/jobs/{id}/resolve",
                "Says that you did by hand what a job was to do: it has succeeded.")
            .says("result", Verb.Type.JSON)
            .says("reason", Verb.Type.TEXT)
            .says("force", Verb.Type.FLAG));
    verbs.add(
        Verb.of("jobs change", "PATCH", "/jobs/{id}", "Changes a job that has not begun.")
            .says("run_at", Verb.Type.TEXT)
            .says("priority", Verb.Type.NUMBER)
            .says("tags", Verb.Type.LIST)
            .says("reason", Verb.Type.TEXT));
    verbs.add(Verb.of("jobs delete", "DELETE", "/jobs/{id}", "Removes a finished job."));
    Verb each =
        Verb.of(
                "jobs each",
                "POST",
                "/jobs/actions",
                "Does the same to many jobs, chosen by filters.")
            .takes("action", Verb.Type.TEXT)
            .says("dry_run", Verb.Type.FLAG)
            .says("reason", Verb.Type.TEXT)
            .says("force", Verb.Type.FLAG)
            .says("limit", Verb.Type.NUMBER)
            .columns("job_id", "state", "status");
    for (String filter : JOB_FILTERS) {
      each = each.says("filter." + filter, Verb.Type.TEXT);
    }
    verbs.add(each);
    verbs.add(enqueue());
    return verbs;
  }

  private static Verb enqueue() {
    return Verb.of("enqueue", "POST", "/jobs", "Enqueues a job.")
        .takes("kind", Verb.Type.TEXT)
        .says("args", Verb.Type.JSON)
        .says("id", Verb.Type.TEXT)
        .says("queue", Verb.Type.TEXT)
        .says("priority", Verb.Type.NUMBER)
        .says("run_at", Verb.Type.TEXT)
        .says("delay_seconds", Verb.Type.NUMBER)
        .says("target", Verb.Type.TEXT)
        .says("resources", Verb.Type.LIST)
        .says("max_attempts", Verb.Type.NUMBER)
        .says("retry", Verb.Type.JSON)
        .says("timeout_seconds", Verb.Type.NUMBER)
        .says("lease_seconds", Verb.Type.NUMBER)
        .says("on_lease_lost", Verb.Type.TEXT)
        .says("on_stop", Verb.Type.TEXT)
        .says("on_failure", Verb.Type.TEXT)
        .says("unique_key", Verb.Type.TEXT)
        .says("tags", Verb.Type.LIST)
        .says("target_count", Verb.Type.NUMBER)
        .says("preferred_host", Verb.Type.TEXT)
        .says("require_host", Verb.Type.FLAG)
        .says("labels", Verb.Type.JSON)
        .says("subject", Verb.Type.JSON)
        .says("site_id", Verb.Type.TEXT)
        .says("environment_id", Verb.Type.TEXT)
        .says("node_id", Verb.Type.TEXT)
        .says("pending", Verb.Type.FLAG)
        .says("traceparent", Verb.Type.TEXT)
        .says("tracestate", Verb.Type.TEXT);
  }

  private static List<Verb> ofTheQueue() {
    return List.of(
        Verb.get("queues list", "/queues", "Lists queues.")
            .columns("name", "paused", "concurrency_limit", "queued", "running")
            .paged(),
        Verb.get("queues show", "/queues/{name}", "Shows a queue."),
        Verb.of(
                "queues set",
                "PUT",
                "/queues/{name}",
                "Changes a queue: pauses it, limits it, gives it defaults.")
            .says("paused", Verb.Type.CHOICE)
            .says("concurrency_limit", Verb.Type.NUMBER)
            .says("defaults", Verb.Type.JSON),
        Verb.get("resources list", "/resources", "Lists resources.")
            .columns("name", "capacity", "holders", "waiters")
            .paged(),
        Verb.get("resources show", "/resources/{name}", "Shows who has a resource, and who waits."),
        Verb.of("resources set", "PUT", "/resources/{name}", "Sets a resource's capacity.")
            .says("capacity", Verb.Type.NUMBER),
        Verb.of(
                "resources release",
                "POST",
                "/resources/{name}/release",
                "Takes all blocks off a resource, so that its next job can run.")
            .says("reason", Verb.Type.TEXT));
  }

  private static List<Verb> schedules() {
    return List.of(
        Verb.get("schedules list", "/schedules", "Lists schedules.")
            .columns("name", "cron", "every_seconds", "timezone", "kind", "enabled", "next_at")
            .paged(),
        Verb.get("schedules show", "/schedules/{name}", "Shows a schedule."),
        Verb.of(
                "schedules set",
                "PUT",
                "/schedules/{name}",
                "Makes a schedule, or changes one to this.")
            .says("cron", Verb.Type.TEXT)
            .says("every_seconds", Verb.Type.NUMBER)
            .says("timezone", Verb.Type.TEXT)
            .says("kind", Verb.Type.TEXT)
            .says("queue", Verb.Type.TEXT)
            .says("args", Verb.Type.JSON)
            .says("coalesce", Verb.Type.CHOICE)
            .says("misfire_grace_seconds", Verb.Type.NUMBER)
            .says("max_instances", Verb.Type.NUMBER)
            .says("expected_runtime_seconds", Verb.Type.NUMBER)
            .says("dst", Verb.Type.JSON)
            .says("enabled", Verb.Type.CHOICE),
        Verb.of(
                "schedules enable",
                "POST",
                "/schedules/{name}/enable",
                "Lets a schedule fire again.")
            .says("reason", Verb.Type.TEXT),
        Verb.of(
                "schedules disable",
                "POST",
                "/schedules/{name}/disable",
                "Keeps a schedule from firing.")
            .says("reason", Verb.Type.TEXT),
        Verb.of("schedules delete", "DELETE", "/schedules/{name}", "Removes a schedule."),
        Verb.get(
                "schedules slots",
                "/schedules/{name}/slots",
                "Lists what became of a schedule's slots.")
            .columns("scheduled_for", "status", "reason", "job_id")
            .paged(),
        Verb.get("schedules next", "/schedules/{name}/next", "Says when a schedule is due next.")
            .queries("count", "from"),
        Verb.of(
                "schedules trigger",
                "POST",
                "/schedules/{name}/trigger",
                "Runs a schedule's job now, for a slot that nobody has taken.")
            .says("scheduled_for", Verb.Type.TEXT)
            .says("reason", Verb.Type.TEXT));
  }

  private static List<Verb> registry() {
    return List.of(
        Verb.get("workers list", "/workers", "Lists workers.")
            .columns("name", "host", "online", "draining", "active_jobs", "queues", "last_seen")
            .paged(),
        Verb.of(
                "workers drain",
                "POST",
                "/workers/{name}/drain",
                "Asks a worker to take nothing more.")
            .says("reason", Verb.Type.TEXT),
        Verb.of(
                "workers resume",
                "POST",
                "/workers/{name}/resume",
                "Lets a worker take jobs again.")
            .says("reason", Verb.Type.TEXT),
        Verb.get("kinds list", "/kinds", "Lists registered kinds.")
            .columns("name", "executor", "playbook", "node_targeted", "subject_during")
            .paged(),
        Verb.get("kinds show", "/kinds/{name}", "Shows a kind."),
        Verb.of("kinds set", "PUT", "/kinds/{name}", "Registers a kind, or changes it.")
            .says("executor", Verb.Type.TEXT)
            .says("playbook", Verb.Type.TEXT)
            .says("node_targeted", Verb.Type.CHOICE)
            .says("subject_during", Verb.Type.TEXT)
            .says("defaults", Verb.Type.JSON)
            .says("settings", Verb.Type.JSON),
        Verb.get("nodes list", "/nodes", "Lists nodes.")
            .columns("id", "host", "port", "user", "connection")
            .paged(),
        Verb.get("nodes show", "/nodes/{id}", "Shows a node."),
        Verb.of("nodes set", "PUT", "/nodes/{id}", "Registers a node, or changes it.")
            .says("host", Verb.Type.TEXT)
            .says("port", Verb.Type.NUMBER)
            .says("user", Verb.Type.TEXT)
            .says("key_file", Verb.Type.TEXT)
            .says("connection", Verb.Type.TEXT),
        Verb.of("nodes delete", "DELETE", "/nodes/{id}", "Removes a node."),
        Verb.get("subjects show", "/subjects/{type}/{id}", "Shows the state of what jobs work on."),
        Verb.get("settings list", "/settings", "Lists settings.")
            .columns("name", "value", "default"),
        Verb.of("settings set", "PUT", "/settings/{name}", "Changes a setting, in force at once.")
            .takes("value", Verb.Type.NUMBER),
        Verb.get("webhooks list", "/webhooks", "Lists webhooks.").columns("name", "url", "events"),
        Verb.of("webhooks set", "PUT", "/webhooks/{name}", "Makes a webhook, or changes it.")
            .says("url", Verb.Type.TEXT)
            .says("events", Verb.Type.LIST)
            .says("secret", Verb.Type.TEXT),
        Verb.of("webhooks delete", "DELETE", "/webhooks/{name}", "Removes a webhook."),
        Verb.of("pull-secret set", "PUT", "/pull-secret", "Lets pull workers sign their requests.")
            .says("secret", Verb.Type.TEXT),
        Verb.of("pull-secret delete", "DELETE", "/pull-secret", "Ends signed requests."));
  }

  private static List<Verb> administration() {
    return List.of(
        Verb.get("tenants list", "/tenants", "Lists tenants.").columns("name").paged(),
        Verb.of("tenants create", "POST", "/tenants", "Makes a tenant.")
            .takes("name", Verb.Type.TEXT),
        Verb.of(
            "tenants drop", "DELETE", "/tenants/{name}", "Removes a tenant and all that is in it."),
        Verb.get("tokens list", "/tokens", "Lists tokens, newest first.")
            .columns("id", "name", "role", "tenant", "expires_at", "revoked_at")
            .paged(),
        Verb.of("tokens create", "POST", "/tokens", "Makes a token; it is shown once.")
            .takes("name", Verb.Type.TEXT)
            .says("role", Verb.Type.TEXT)
            .says("expires_at", Verb.Type.TEXT),
        Verb.of("tokens revoke", "DELETE", "/tokens/{id}", "Revokes a token."),
        Verb.get("audit list", "/audit", "Lists what people did, newest first.")
            .columns("at", "actor", "act", "job_id", "resource", "before", "after", "reason")
            .paged(),
        Verb.get("invariants check", "/invariants", "Says what is not as it must be.")
            .columns("id", "job_id", "resource", "detail"));
  }
}
