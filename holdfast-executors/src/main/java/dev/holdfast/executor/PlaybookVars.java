package dev.holdfast.executor;

import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.worker.JobContext;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a playbook is told: the keys of the job's arguments, and who and what it runs for. Not a
 * record: those show their values.
 */
final class PlaybookVars {

  // Plugins read variables under names that are no names, as delegated_vars['ansible_host'].
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
  private static final String OWN = "ansible_"; // how it is reached is not for jobs to say
  private static final String MEANING = "__ansible_"; // what a value is to Ansible
  private static final String UNSAFE = MEANING + "unsafe";
  private static final String SECRETS = "secrets";

  // What Ansible says of the host and of the role, and believes extra-vars about: playbooks ask
  // these where they are, and delegate by them. Other special names it sets after extra-vars.
  private static final Set<String> WHERE =
      Set.of(
          "inventory_hostname",
          "inventory_hostname_short",
          "inventory_dir",
          "inventory_file",
          "group_names",
          "role_name",
          "role_path",
          "role_uuid",
          "parent_role_names",
          "parent_role_paths");

  private final Map<String, Object> vars;
  private final List<String> hidden;

  private PlaybookVars(Map<String, Object> vars, List<String> hidden) {
    this.vars = vars;
    this.hidden = hidden;
  }

  static PlaybookVars of(@Nullable Object args, Secrets secrets, Runbook book, JobContext job) {
    Map<String, Object> vars = new LinkedHashMap<>();
    Map<String, String> texts = new LinkedHashMap<>();
    List<String> named = new ArrayList<>();
    if (args != null && !(args instanceof Map<?, ?>)) {
      throw HoldfastException.invalid("args", args.getClass().getSimpleName(), "an object");
    }
    if (args instanceof Map<?, ?> map) {
      named.addAll(names(map.get(SECRETS)));
      map.forEach((key, value) -> {
        String name = variable(String.valueOf(key));
        if (value instanceof String text) {
          texts.put(name, text);
        }
        if (!name.equals(SECRETS)) {
          vars.put(name, literal(value));
        }
      });
    }
    Map<String, String> chosen = secrets.named(named, texts);
    chosen.forEach((name, value) -> vars.put(name, literal(value)));
    vars.put("job_id", job.jobId().toString());
    vars.put("attempt", job.attempt());
    vars.put("fence", job.fence());
    // These replace arguments of the same names, also where the job names no id. A playbook trusts
    // that its job holds the site and the node, so that no other job changes them at the same time.
    // For an id from the arguments this is not so, and nobody has checked that it is no path.
    for (String name : List.of("site_id", "environment_id", "node_id")) {
      vars.put(name, literal(Runbook.checkedId(name, book.ids().getOrDefault(name, ""))));
    }
    return new PlaybookVars(vars, secrets.toHide(chosen));
  }

  private static String variable(String name) {
    if (!NAME.matcher(name).matches()) {
      throw HoldfastException.invalid(
          "args", name, "names of variables: letters, digits and _, no digit first");
    }
    String bare = name.replaceFirst("^_+", "").toLowerCase(Locale.ROOT); // _ansible_loop_cache, too
    if (bare.startsWith(OWN)) {
      throw HoldfastException.invalid("args", name, "names that do not begin with " + OWN);
    }
    if (WHERE.contains(name)) {
      throw HoldfastException.invalid("args", name, "names that Ansible does not give itself");
    }
    return name;
  }

  private static List<String> names(@Nullable Object secrets) {
    if (secrets == null) {
      return List.of();
    }
    if (secrets instanceof List<?> list && list.stream().allMatch(String.class::isInstance)) {
      return list.stream().map(String::valueOf).toList();
    }
    throw HoldfastException.invalid(SECRETS, "something else", "a list of names");
  }

  // Ansible evaluates what looks like a template, and templates can run anything. What a job says
  // is to be taken as it stands; also half of a template, which a playbook may put together with
  // the other half and keep. A text without a brace is neither.
  private static @Nullable Object literal(@Nullable Object value) {
    return switch (value) {
      case String text when hasBrace(text) -> Map.of(UNSAFE, text);
      case List<?> list -> {
        List<@Nullable Object> literals = new ArrayList<>();
        list.forEach(each -> literals.add(literal(each)));
        yield literals;
      }
      case Map<?, ?> map -> {
        Map<String, @Nullable Object> literals = new LinkedHashMap<>();
        map.forEach((name, each) -> literals.put(checked(String.valueOf(name)), literal(each)));
        yield literals;
      }
      case null -> null;
      default -> value;
    };
  }

  // It takes an object with such a key for something else than an object: for a text of its vault.
  // And a key cannot be marked as a value can: a playbook that goes through the keys of an object
  // would evaluate them.
  private static String checked(String name) {
    if (name.startsWith(MEANING)) {
      throw HoldfastException.invalid("args", name, "names that do not begin with " + MEANING);
    }
    if (hasBrace(name)) {
      throw HoldfastException.invalid("args", name, "names without { and }");
    }
    return name;
  }

  private static boolean hasBrace(String text) {
    return text.contains("{") || text.contains("}");
  }

  String json() {
    return new JacksonCodec().encode(vars);
  }

  /** What must not be seen in its output. */
  List<String> hidden() {
    return hidden;
  }

  /**
   * The one host, under a name that is not taken for a pattern.
   *
   * @param scratch where it puts what it copies, when it is this machine: it goes with the attempt
   */
  static String inventory(NodeAddress node, Path scratch) {
    Map<String, Object> host = new LinkedHashMap<>();
    host.put("ansible_host", literalText(node.host()));
    node.port().ifPresent(port -> host.put("ansible_port", port));
    node.user().ifPresent(user -> host.put("ansible_user", literalText(user)));
    node.keyFile().ifPresent(file -> host.put("ansible_ssh_private_key_file", literalText(file)));
    node.connection().ifPresent(name -> host.put("ansible_connection", literalText(name)));
    if (node.connection().equals(Optional.of("local"))) {
      host.put("ansible_remote_tmp", scratch.toString());
    }
    String name = node.id().replaceAll("[^A-Za-z0-9_.-]", "_");
    return new JacksonCodec().encode(Map.of("all", Map.of("hosts", Map.of(name, host))));
  }

  private static Object literalText(String text) {
    return Optional.ofNullable(literal(text)).orElse("");
  }
}
