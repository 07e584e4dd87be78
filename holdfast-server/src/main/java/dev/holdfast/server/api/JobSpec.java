package dev.holdfast.server.api;

import dev.holdfast.api.Fields;
import dev.holdfast.api.NewJobJson;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Needs;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Subject;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.tenancy.Desk;
import dev.holdfast.server.tenancy.KindInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A job as somebody asks for it: the engine's own fields, and the words of the control plane for
 * some of them. {@code site_id} and {@code node_id} stand for resources, {@code environment_id} or
 * {@code site_id} for the subject, and the kind says what is left open.
 */
final class JobSpec {

  private static final String FREE_COMMAND = "process";

  private JobSpec() {}

  static Set<String> fields() {
    Set<String> fields = new TreeSet<>(NewJobJson.fields());
    fields.addAll(Set.of("site_id", "environment_id", "node_id"));
    return fields;
  }

  static NewJob read(Request request, Fields said) {
    Desk desk = request.desk();
    NewJob job = NewJobJson.read(said);
    KindInfo kind = desk.kinds().get(job.kind());
    boolean freeCommand =
        job.kind().equals(FREE_COMMAND) || kind.executor().filter(FREE_COMMAND::equals).isPresent();
    if (freeCommand && said.optionalObject("args").filter(args -> args.says("argv")).isPresent()) {
      request.require(Role.ADMIN, "a command of one's own (args.argv)");
    }
    Optional<String> node = said.optionalText("node_id");
    if (kind.nodeTargeted() && node.isEmpty()) {
      throw HoldfastException.invalid(
          "node_id", "missing", "a node's id, because kind " + job.kind() + " is node-targeted");
    }
    List<String> resources = new ArrayList<>(said.texts("resources"));
    said.optionalText("site_id").ifPresent(id -> resources.add("site:" + id));
    node.ifPresent(id -> resources.add("node:" + id));
    NewJob placed =
        resources.isEmpty() ? job : job.withResources(with(resources, said.optionalText("target")));
    NewJob told =
        subject(said, kind)
            .filter(subject -> said.any("subject").isEmpty())
            .map(placed::withSubject)
            .orElse(placed);
    return told.withPolicy(told.policy().over(kind.defaults()));
  }

  private static List<String> with(List<String> resources, Optional<String> target) {
    target.ifPresent(name -> resources.add(Needs.resourceOf(name)));
    return resources;
  }

  private static Optional<Subject> subject(Fields said, KindInfo kind) {
    return said.optionalText("environment_id")
        .map(id -> subject("environment", id, kind))
        .or(() -> said.optionalText("site_id").map(id -> subject("site", id, kind)));
  }

  private static Subject subject(String type, String id, KindInfo kind) {
    return new Subject(type, Limits.name(type + "_id", id), kind.subjectDuring());
  }
}
