package dev.holdfast.server.http;

import dev.holdfast.server.auth.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * One line of the table of routes: what is asked, who may ask it, and what answers. The document of
 * the API and the tests of who may do what are made from the same lines.
 *
 * @param role empty where nobody need say who they are
 * @param scope whose things it is about
 * @param queries parameters after the question mark
 * @param haste how long its answer takes, or may take
 * @param style how it listens and answers
 * @param credential what serves as well as a token
 * @param fields of the JSON object, or the form, that it takes; empty where it takes none
 */
public record Route(
    Method method,
    String path,
    Optional<Role> role,
    Scope scope,
    String summary,
    Set<String> queries,
    Set<String> fields,
    Haste haste,
    Style style,
    Optional<Credential> credential,
    Handler handler) {

  private static final String TENANT = "tenant";
  private static final Pattern PARAMETER = Pattern.compile("\\{(\\w+)}");

  public enum Method {
    GET,
    POST,
    PUT,
    PATCH,
    DELETE
  }

  /** Whose things a route is about. */
  public enum Scope {
    /** One tenant's, and the role is one within it. */
    TENANT,
    /** All tenants'. */
    SYSTEM
  }

  /** How long an answer takes, or may take. */
  public enum Haste {
    USUAL,
    /** As long as the client lets it. */
    WAITS,
    /** Not behind others: somebody's leases end if it is late. */
    URGENT
  }

  @FunctionalInterface
  public interface Handler {
    Answer handle(Request request) throws Exception;
  }

  public static Route open(String path, String summary, Handler handler) {
    return new Route(
        Method.GET,
        path,
        Optional.empty(),
        Scope.SYSTEM,
        summary,
        Set.of(),
        Set.of(),
        Haste.USUAL,
        Style.NATIVE,
        Optional.empty(),
        handler);
  }

  public static Route of(Method method, String path, Role role, String summary, Handler handler) {
    return new Route(
        method,
        path,
        Optional.of(role),
        Scope.TENANT,
        summary,
        Set.of(),
        Set.of(),
        Haste.USUAL,
        Style.NATIVE,
        Optional.empty(),
        handler);
  }

  public Route queries(String... names) {
    return new Route(
        method,
        path,
        role,
        scope,
        summary,
        Set.of(names),
        fields,
        haste,
        style,
        credential,
        handler);
  }

  public Route fields(String... names) {
    return fields(Set.of(names));
  }

  public Route fields(Set<String> names) {
    return new Route(
        method,
        path,
        role,
        scope,
        summary,
        queries,
        Set.copyOf(names),
        haste,
        style,
        credential,
        handler);
  }

  public Route ofAllTenants() {
    return new Route(
        method,
        path,
        role,
        Scope.SYSTEM,
        summary,
        queries,
        fields,
        haste,
        style,
        credential,
        handler);
  }

  public Route waiting() {
    return new Route(
        method,
        path,
        role,
        scope,
        summary,
        queries,
        fields,
        Haste.WAITS,
        style,
        credential,
        handler);
  }

  /** By connections that nobody else takes: it must not wait behind others. */
  public Route urgent() {
    return new Route(
        method,
        path,
        role,
        scope,
        summary,
        queries,
        fields,
        Haste.URGENT,
        style,
        credential,
        handler);
  }

  public boolean waits() {
    return haste == Haste.WAITS;
  }

  boolean isUrgent() {
    return haste == Haste.URGENT;
  }

  /** For people. */
  public Route asPage() {
    return new Route(
        method,
        path,
        role,
        scope,
        summary,
        queries,
        fields,
        haste,
        Style.PAGE,
        credential,
        handler);
  }

  public boolean isPage() {
    return style == Style.PAGE;
  }

  /** A form for people, who need not say who they are. */
  public static Route openForm(String path, String summary, Handler handler) {
    return new Route(
        Method.POST,
        path,
        Optional.empty(),
        Scope.SYSTEM,
        summary,
        Set.of(),
        Set.of(),
        Haste.USUAL,
        Style.PAGE,
        Optional.empty(),
        handler);
  }

  /** As clients of another system know it. */
  public Route inDialect() {
    return new Route(
        method,
        path,
        role,
        scope,
        summary,
        queries,
        fields,
        haste,
        Style.DIALECT,
        credential,
        handler);
  }

  /** Who has no token may say otherwise who they are. */
  public Route orBy(Credential credential) {
    return new Route(
        method,
        path,
        role,
        scope,
        summary,
        queries,
        fields,
        haste,
        style,
        Optional.of(credential),
        handler);
  }

  /** The same at another path. */
  public Route at(String path) {
    return new Route(
        method, path, role, scope, summary, queries, fields, haste, style, credential, handler);
  }

  /** The same, found under the name of a tenant: its clients send no header that would say it. */
  public Route underTenant() {
    return at("/t/{" + TENANT + "}" + path);
  }

  /** The part of its path that names the tenant, where one does. */
  Optional<String> tenantInPath() {
    return parameters().contains(TENANT) ? Optional.of(TENANT) : Optional.empty();
  }

  /** For clients that differ about the slash at the end. */
  public List<Route> withOrWithoutSlash() {
    String plain = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    return List.of(at(plain), at(plain + "/"));
  }

  /** The names in braces of its path. */
  public List<String> parameters() {
    List<String> names = new ArrayList<>();
    PARAMETER.matcher(path).results().forEach(found -> names.add(found.group(1)));
    return names;
  }

  @Override
  public String toString() {
    return method + " " + path;
  }
}
