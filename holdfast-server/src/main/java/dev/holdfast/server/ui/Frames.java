package dev.holdfast.server.ui;

import dev.holdfast.Holdfast;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Visit;
import dev.holdfast.tenant.TenantName;
import java.util.List;

/** Frames pages for whoever asks. */
final class Frames {

  private final ServerConfig config;
  private final Holdfast holdfast;
  private final Assets assets;

  Frames(ServerConfig config, Holdfast holdfast, Assets assets) {
    this.config = config;
    this.holdfast = holdfast;
    this.assets = assets;
  }

  Frame frame(Request request, String title, String active) {
    TenantName tenant = request.desk().tenant().name();
    Visit visit = Visit.of(request.http());
    List<String> tenants =
        request.mayDo(Role.SYSTEM)
            ? holdfast.tenants().list().stream().map(TenantName::value).sorted().toList()
            : List.of();
    return new Frame(
        title,
        active,
        tenant.value(),
        tenants,
        config.trust().auth(),
        request.principal().name(),
        request.principal().role(),
        visit.csrf(tenant),
        visit.theme(),
        visit.said(),
        request.desk().overview().now(),
        address(request),
        assets.version());
  }

  static String address(Request request) {
    String query = request.http().queryString();
    return request.http().path() + (query == null ? "" : "?" + query);
  }
}
