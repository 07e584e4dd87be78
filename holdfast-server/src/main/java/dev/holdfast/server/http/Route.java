package dev.holdfast.server.http;

import dev.holdfast.server.auth.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * One row of the route table: method and path, who may call it, and what handles it. The OpenAPI
 * document and the authorisation tests are made from the same rows.
 *
 * @param access who may call the route
 * @param input the parameters and fields that it accepts
 * @param haste how long its answer may take
 * @param style the conventions of its requests and answers
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

  /** What a route is about. */
  public enum Scope {
    /** One tenant; the role is one within it. */
    TENANT,
    /** All tenants. */
    SYSTEM
  }

  /** How long an answer may take. */
  public enum Haste {
    USUAL,
    /** As long as the client is willing to wait. */
    WAITS,
    /** Must not wait behind other requests: leases end if it is late. */
    URGENT
  }

  /**
   * Who may call a route.
   *
   * @param role empty where no authentication is needed
   * @param credential what can replace a token
   */
  private record Access(Optional<Role> role, Scope scope, Optional<Credential> credential) {

    static final Access OF_ALL = new Access(Optional.empty(), Scope.SYSTEM, Optional.empty());
  }

  /**
   * What a request may contain.
   *
   * @param queries names of query parameters
   * @param fields names of fields of the JSON object or the form; empty where there is no body
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

  /** A form that can be sent without signing in. */
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

  /** What can replace a token. */
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

  /** Also accepts callers that this credential identifies in place of a token. */
  public Route orBy(Credential credential) {
    return allowing(new Access(role(), scope(), Optional.of(credential)));
  }

  private Route allowing(Access access) {
    return new Route(method, path, summary, access, input, haste, style, handler);
  }

  public Route waiting() {
    return within(Haste.WAITS);
  }

  /** Uses reserved connections, because it must not wait behind other requests. */
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

  /** For people with a browser. */
  public Route asPage() {
    return in(Style.PAGE);
  }

  /** With the conventions of another system's clients. */
  public Route inDialect() {
    return in(Style.DIALECT);
  }

  private Route in(Style style) {
    return new Route(method, path, summary, access, input, haste, style, handler);
  }

  public boolean isPage() {
    return style == Style.PAGE;
  }

  /** The same route at another path. */
  public Route at(String path) {
    return new Route(method, path, summary, access, input, haste, style, handler);
  }

  /** The same route below a tenant's name, for clients that send no header with the tenant. */
  public Route underTenant() {
    return at("/t/{" + TENANT + "}" + path);
  }

  /** The parameter of the path that names the tenant, if there is one. */
  Optional<String> tenantInPath() {
    return parameters().contains(TENANT) ? Optional.of(TENANT) : Optional.empty();
  }

  /** The route with and without a slash at the end, because clients differ about it. */
  public List<Route> withOrWithoutSlash() {
    String plain = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    return List.of(at(plain), at(plain + "/"));
  }

  /** The names of the parameters in its path. */
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
