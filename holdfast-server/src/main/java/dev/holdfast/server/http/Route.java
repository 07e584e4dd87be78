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
 * @param access who may ask
 * @param input what may be said
 * @param haste how long its answer takes, or may take
 * @param style how it listens and answers
 */
public record Route(
    Method method,
    String path,
    String summary,
    Access access,
    Input input,
    Haste haste,
    Style style,
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

  /**
   * Who may ask.
   *
   * @param role empty where nobody need say who they are
   * @param credential what serves as well as a token
   */
  private record Access(Optional<Role> role, Scope scope, Optional<Credential> credential) {

    static final Access OF_ALL = new Access(Optional.empty(), Scope.SYSTEM, Optional.empty());
  }

  /**
   * What may be said.
   *
   * @param queries parameters after the question mark
   * @param fields of the JSON object, or the form; empty where none is taken
   */
  private record Input(Set<String> queries, Set<String> fields) {

    static final Input NONE = new Input(Set.of(), Set.of());
  }

  @FunctionalInterface
  public interface Handler {
    Answer handle(Request request) throws Exception;
  }

  public static Route of(Method method, String path, Role role, String summary, Handler handler) {
    Access access = new Access(Optional.of(role), Scope.TENANT, Optional.empty());
    return new Route(method, path, summary, access, Input.NONE, Haste.USUAL, Style.NATIVE, handler);
  }

  public static Route open(String path, String summary, Handler handler) {
    return new Route(
        Method.GET, path, summary, Access.OF_ALL, Input.NONE, Haste.USUAL, Style.NATIVE, handler);
  }

  /** A form for people, who need not say who they are. */
  public static Route openForm(String path, String summary, Handler handler) {
    return new Route(
        Method.POST, path, summary, Access.OF_ALL, Input.NONE, Haste.USUAL, Style.PAGE, handler);
  }

  public Optional<Role> role() {
    return access.role();
  }

  public Scope scope() {
    return access.scope();
  }

  /** What serves as well as a token. */
  Optional<Credential> credential() {
    return access.credential();
  }

  public Set<String> queries() {
    return input.queries();
  }

  public Set<String> fields() {
    return input.fields();
  }

  public Route queries(String... names) {
    return taking(new Input(Set.of(names), fields()));
  }

  public Route fields(String... names) {
    return fields(Set.of(names));
  }

  public Route fields(Set<String> names) {
    return taking(new Input(queries(), Set.copyOf(names)));
  }

  private Route taking(Input input) {
    return new Route(method, path, summary, access, input, haste, style, handler);
  }

  public Route ofAllTenants() {
    return allowing(new Access(role(), Scope.SYSTEM, credential()));
  }

  /** Who has no token may say otherwise who they are. */
  public Route orBy(Credential credential) {
    return allowing(new Access(role(), scope(), Optional.of(credential)));
  }

  private Route allowing(Access access) {
    return new Route(method, path, summary, access, input, haste, style, handler);
  }

  public Route waiting() {
    return within(Haste.WAITS);
  }

  /** By connections that nobody else takes: it must not wait behind others. */
  public Route urgent() {
    return within(Haste.URGENT);
  }

  private Route within(Haste haste) {
    return new Route(method, path, summary, access, input, haste, style, handler);
  }

  public boolean waits() {
    return haste == Haste.WAITS;
  }

  boolean isUrgent() {
    return haste == Haste.URGENT;
  }

  /** For people. */
  public Route asPage() {
    return in(Style.PAGE);
  }

  /** As clients of another system know it. */
  public Route inDialect() {
    return in(Style.DIALECT);
  }

  private Route in(Style style) {
    return new Route(method, path, summary, access, input, haste, style, handler);
  }

  public boolean isPage() {
    return style == Style.PAGE;
  }

  /** The same at another path. */
  public Route at(String path) {
    return new Route(method, path, summary, access, input, haste, style, handler);
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
