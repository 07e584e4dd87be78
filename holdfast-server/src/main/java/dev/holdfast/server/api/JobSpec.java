package dev.holdfast.server.api;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.api.NewJobJson;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.executor.Runbook;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Needs;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Subject;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.tenancy.KindInfo;
import dev.holdfast.server.tenancy.KindSettings;
import dev.holdfast.server.tenancy.OwnSecrets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads a job from a request: the engine's own fields, and the terms of a control plane for some of
 * them. {@code site_id} and {@code node_id} stand for resources, {@code environment_id} or {@code
 * site_id} for the subject, and the kind sets what the request leaves open.
 */
public final class JobSpec {

  // The argument with which a job brings its own command, by executor.
  private static final Map<String, String> FREE_COMMANDS =
      Map.of("process", "argv", "container", "image");
  private static final Set<String> MARKED = Set.of("argv", "image", "secrets");
  private static final String NODE = "node:";
  private static final String SITE = "site:";
  private static final Set<String> SUBJECTS = Set.of("environment", "site");

  private final Request request;
  private final Map<String, KindInfo> kinds = new HashMap<>(); // a batch has few kinds

  public JobSpec(Request request) {
    this.request = request;
  }

  static Set<String> fields() {
    Set<String> fields = new TreeSet<>(NewJobJson.fields());
    fields.addAll(Set.of("site_id", "environment_id", "node_id"));
    return fields;
  }

  public NewJob read(Fields said) {
    KindInfo kind = kind(said);
    Optional<KindSettings> settings = kind.settings();
    if (settings.isPresent()) {
      ObjectNode filled = said.json().deepCopy();
      Payload args =
          settings.get().args(said.any("args").orElseGet(Json::object), request.mayDo(Role.ADMIN));
      filled.set("args", Json.parse("args", args.json()));
      return readAsIs(Fields.of("body", filled));
    }
    requireRight(said, kind.executor().orElse(kind.name()));
    return readAsIs(said);
  }

  private KindInfo kind(Fields said) {
    return kinds.computeIfAbsent(said.text("kind"), request.services().kinds()::get);
  }

  /** Whether the job's kind is still run by what its arguments were checked for. */
  boolean isRunAsBefore(NewJob job) {
    String now = kinds.computeIfAbsent(job.kind(), request.services().kinds()::get).runBy();
    return job.policy().enqueuedAs().map(now::equals).orElse(true);
  }

  /** Reads a job whose arguments were put there by a caller with the right to do so. */
  NewJob readAsIs(Fields said) {
    NewJob job = NewJobJson.read(said);
    Reserved.check("kind", job.kind());
    Reserved.check("queue", job.queue());
    KindInfo kind = kind(said);
    Optional<String> node = id(said, "node_id");
    List<String> resources = new ArrayList<>(said.texts("resources"));
    if (kind.nodeTargeted()
        && node.isEmpty()
        && resources.stream().noneMatch(name -> name.startsWith(NODE))) {
      throw HoldfastException.invalid(
          "node_id", "missing", "a node's id, because kind " + job.kind() + " is node-targeted");
    }
    id(said, "site_id").ifPresent(id -> resources.add(SITE + id));
    node.ifPresent(id -> resources.add(NODE + id));
    NewJob placed =
        resources.isEmpty() ? job : job.withResources(with(resources, said.optionalText("target")));
    NewJob told =
        subject(said, kind)
            .filter(subject -> said.any("subject").isEmpty())
            .map(placed::withSubject)
            .orElse(placed);
    if (kind.playbook().isPresent()) {
      checkIds(told);
    }
    PolicyOverrides policy = told.policy().over(kind.defaults());
    return told.withPolicy(isToBeMarked(said, kind) ? policy.withEnqueuedAs(kind.runBy()) : policy);
  }

  // The mark excludes a job from the fast path into its table, so jobs without a command go
  // without. An executor would find no command in them; see Runbooks for playbooks.
  private static boolean isToBeMarked(Fields said, KindInfo kind) {
    return kind.executor().isPresent()
        || said.any("args").filter(args -> MARKED.stream().anyMatch(args::has)).isPresent();
  }

  private void requireRight(Fields said, String executor) {
    Optional.ofNullable(FREE_COMMANDS.get(executor))
        .filter(field -> said.optionalObject("args").filter(args -> args.says(field)).isPresent())
        .ifPresent(
            field -> request.require(Role.ADMIN, "a command of one's own (args." + field + ")"));
    if (JobExecutors.NAMES.contains(executor)) {
      said.any("args")
          .flatMap(args -> OwnSecrets.others(executor, args))
          .ifPresent(
              name -> request.require(Role.ADMIN, "a secret of the worker's (" + name + ")"));
    }
  }

  // Control planes often use numbers as ids.
  private static Optional<String> id(Fields said, String field) {
    return said.any(field)
        .map(node -> node.isIntegralNumber() ? node.asString() : said.text(field))
        .map(id -> Runbook.checkedId(field, Limits.name(field, id)));
  }

  // Whichever field names the site or node, the playbook gets its id.
  private static void checkIds(NewJob job) {
    for (String resource : job.needs().resources()) {
      if (resource.startsWith(SITE) || resource.startsWith(NODE)) {
        Runbook.checkedId("resources", resource);
      }
    }
    job.needs()
        .subject()
        .filter(subject -> SUBJECTS.contains(subject.type()))
        .ifPresent(subject -> Runbook.checkedId("subject.id", subject.id()));
  }

  private static List<String> with(List<String> resources, Optional<String> target) {
    target.ifPresent(name -> resources.add(Needs.resourceOf(name)));
    return resources;
  }

  private static Optional<Subject> subject(Fields said, KindInfo kind) {
    return id(said, "environment_id")
        .map(id -> new Subject("environment", id, kind.stateOfSubject()))
        .or(() -> id(said, "site_id").map(id -> new Subject("site", id, kind.stateOfSubject())));
  }
}
