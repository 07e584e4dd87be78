package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.DELETE;
import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.Holdfast;
import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.auth.Token;
import dev.holdfast.server.auth.Tokens;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.tenancy.OpenTenants;
import dev.holdfast.tenant.TenantName;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Tenants, and who may ask for what in them. */
final class TenantRoutes {

  private final Holdfast holdfast;
  private final OpenTenants openTenants;
  private final Tokens tokens;
  private final RemoteWorkers workers;
  private final TenantFiles files;

  TenantRoutes(ServerParts parts, TenantFiles files) {
    this.holdfast = parts.holdfast();
    this.openTenants = parts.openTenants();
    this.tokens = parts.tokens();
    this.workers = parts.workers();
    this.files = files;
  }

  List<Route> routes() {
    return List.of(
        Route.of(GET, BASE + "/tenants", Role.SYSTEM, "Lists tenants", this::list)
            .queries("limit", "after")
            .ofAllTenants(),
        Route.of(POST, BASE + "/tenants", Role.SYSTEM, "Makes a tenant", this::create)
            .fields("name")
            .ofAllTenants(),
        Route.of(
                DELETE,
                BASE + "/tenants/{name}",
                Role.SYSTEM,
                "Removes a tenant and all that is in it",
                this::drop)
            .ofAllTenants(),
        Route.of(GET, BASE + "/tokens", Role.ADMIN, "Lists tokens, newest first", this::listTokens)
            .queries("limit", "after"),
        Route.of(POST, BASE + "/tokens", Role.ADMIN, "Makes a token; shown once", this::makeToken)
            .fields("name", "role", "tenant", "expires_at"),
        Route.of(DELETE, BASE + "/tokens/{id}", Role.ADMIN, "Revokes a token", this::revoke));
  }

  private Answer list(Request request) {
    // All of them, unless somebody asks for pages: who made tenants has a list of them to compare.
    int limit = request.query("limit").isPresent() ? request.limit() : Integer.MAX_VALUE;
    String after = request.after();
    List<String> page =
        holdfast.tenants().list().stream()
            .map(TenantName::value)
            .filter(name -> name.compareTo(after) > 0)
            .sorted()
            .limit(limit)
            .toList();
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("tenants");
    page.forEach(name -> list.addObject().put("name", name));
    json.put("after", page.size() == limit ? page.getLast() : null);
    return Answer.ok(json);
  }

  private Answer create(Request request) {
    TenantName name = new TenantName(request.body().text("name"));
    boolean isNew =
        holdfast
            .tenants()
            .createIfAbsent(
                name,
                handle -> {
                  openTenants.seed(handle, name);
                  recordTenant(handle, request, "make_tenant", name);
                  if (holdfast.tenants().hadNamesake(handle, name)) {
                    files.setAside(name);
                  }
                });
    ObjectNode json = Json.object().put("name", name.value());
    return isNew ? Answer.created(json) : Answer.ok(json);
  }

  private Answer drop(Request request) {
    TenantName name = new TenantName(request.path("name"));
    if (name.equals(TenantName.DEFAULT)) {
      throw HoldfastException.invalid("name", name, "any tenant's but the default one's");
    }
    holdfast
        .tenants()
        .drop(
            name,
            handle -> {
              tokens.revokeAll(handle, name);
              recordTenant(handle, request, "drop_tenant", name);
            });
    openTenants.forget(name);
    workers.forget(name);
    // After the commit: a tenant that is not dropped after all keeps its files. If this process
    // ends before they are deleted, they are set aside when a tenant of the same name is made. If
    // there is one by now, that was done, and what is there is its own.
    if (!holdfast.tenants().list().contains(name)) {
      files.delete(name);
    }
    return Answer.done();
  }

  // In the default tenant's book: a dropped one's goes with it.
  private void recordTenant(Handle handle, Request request, String what, TenantName tenant) {
    openTenants
        .of(TenantName.DEFAULT)
        .audit()
        .write(handle, request.act(), what, "tenant:" + tenant, "", "");
  }

  private Answer listTokens(Request request) {
    int limit = request.limit();
    List<Token> page =
        tokens.list(
            request.services().tenant().name(),
            request.mayDo(Role.SYSTEM),
            request.query("after").map(id -> Fields.uuid("after", id)),
            limit);
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("tokens");
    page.forEach(token -> list.add(json(token)));
    json.put("after", page.size() == limit ? page.getLast().id().toString() : null);
    return Answer.ok(json);
  }

  private static ObjectNode json(Token token) {
    ObjectNode json = Json.object();
    json.put("id", token.id().toString());
    json.put("name", token.name());
    json.put("role", token.role().stored());
    Json.put(json, "tenant", token.tenant());
    Json.put(json, "created_at", token.createdAt());
    Json.put(json, "expires_at", token.expiresAt());
    Json.put(json, "revoked_at", token.revokedAt());
    return json;
  }

  private Answer makeToken(Request request) {
    Fields body = request.body();
    Role role = Role.of(body.text("role"));
    TenantName own = request.services().tenant().name();
    Optional<TenantName> asked = body.optionalText("tenant").map(TenantName::new);
    if (role == Role.SYSTEM) {
      request.require(Role.SYSTEM, "a token that belongs to no tenant");
    } else if (asked.filter(tenant -> !tenant.equals(own)).isPresent()) {
      request.require(Role.SYSTEM, "a token for another tenant");
      openTenants.of(asked.get()); // which must exist
    }
    Optional<TenantName> tenant =
        role == Role.SYSTEM ? Optional.empty() : Optional.of(asked.orElse(own));
    if (role == Role.SYSTEM && asked.isPresent()) {
      throw Refusal.of(400, "INVALID_ARGUMENT", "tenant is given; allowed: none with role system");
    }
    String token = tokens.draw();
    String name = body.text("name");
    Optional<Instant> expiresAt = body.optionalInstant("expires_at");
    UUID id =
        request
            .services()
            .tenant()
            .db()
            .inTransaction(handle -> {
              UUID made = tokens.put(handle, token, name, role, tenant, expiresAt);
              record(handle, request, "make_token", made, role.stored() + " " + name);
              return made;
            });
    ObjectNode json = Json.object().put("id", id.toString()).put("token", token);
    json.put("name", name).put("role", role.stored());
    Json.put(json, "tenant", tenant);
    return Answer.created(json);
  }

  private Answer revoke(Request request) {
    UUID id = request.id();
    TenantName own = request.services().tenant().name();
    request
        .services()
        .tenant()
        .db()
        .useTransaction(handle -> {
          tokens.revoke(handle, id, own, request.mayDo(Role.SYSTEM));
          record(handle, request, "revoke_token", id, "");
        });
    return Answer.done();
  }

  private static void record(
      Handle handle, Request request, String what, UUID token, String after) {
    request.services().audit().write(handle, request.act(), what, "token:" + token, "", after);
  }
}
