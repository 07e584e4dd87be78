package dev.holdfast.server.ui;

import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.api.ServerParts;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.auth.Sessions;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.http.Visit;
import dev.holdfast.tenant.TenantName;
import io.javalin.http.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** All routes of the dashboard. */
public final class Ui {

  private final LoginPage login;
  private final List<Route> routes = new ArrayList<>();

  /**
   * Creates the pages.
   *
   * @param api the routes that their forms call
   */
  public Ui(ServerParts parts, Sampler sampler, List<Route> api) {
    Assets assets = new Assets();
    Frames frames = new Frames(parts.config(), parts.holdfast(), assets);
    Forms forms = new Forms(api);
    this.login = new LoginPage(parts.config(), new Sessions(parts.tokens()), assets);
    routes.add(assets.route());
    routes.addAll(login.routes());
    routes.addAll(new OverviewPage(frames, parts.holdfast(), sampler).routes());
    routes.addAll(new JobsPage(frames).routes());
    routes.addAll(new BulkPage(frames, forms).routes());
    routes.addAll(new JobDetailPage(frames, forms).routes());
    routes.addAll(new QueuesPage(frames).routes());
    routes.addAll(new ResourcesPage(frames).routes());
    routes.addAll(new SchedulesPage(frames).routes());
    routes.addAll(new WorkersPage(frames, parts.holdfast()).routes());
    routes.addAll(new NotificationsPage(frames).routes());
    routes.addAll(new TenantsPage(frames).routes());
    routes.addAll(new TokensPage(frames, parts.tokens(), forms).routes());
    routes.addAll(new SettingsPage(frames).routes());
    routes.addAll(new AuditPage(frames).routes());
    routes.addAll(forms.routes());
    routes.add(
        Route.of(
                GET,
                "/ui/events",
                Role.VIEWER,
                "Says when something changed",
                request -> request.ask(forms.api("GET /api/v1/events"), Map.of(), Json.object()))
            .waiting()
            .asPage());
    routes.add(
        Route.of(POST, "/ui/do/look", Role.SYSTEM, "Looks at another tenant", Ui::look)
            .fields("tenant")
            .asPage());
  }

  public List<Route> routes() {
    return List.copyOf(routes);
  }

  /** The page for an error. */
  public Answer problem(Context http, Refusal refusal) {
    return login.problem(http, refusal);
  }

  private static Answer look(Request request) {
    TenantName tenant =
        new TenantName(
            request
                .form("tenant")
                .orElseThrow(() -> HoldfastException.invalid("tenant", "none", "a tenant")));
    Visit.of(request.http()).look(tenant);
    return LoginPage.to(request, LoginPage.HOME);
  }
}
