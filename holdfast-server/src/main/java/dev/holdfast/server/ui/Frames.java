package dev.holdfast.server.ui;

import dev.holdfast.Holdfast;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Visit;
import dev.holdfast.tenant.TenantName;
import java.util.List;
import java.util.stream.Stream;

/** Makes the frame of a page for a request. */
final class Frames {

  private static final int MOST_TENANTS = 200;

  private final ServerConfig config;
  private final Holdfast holdfast;
  private final Assets assets;

  Frames(ServerConfig config, Holdfast holdfast, Assets assets) {
    this.config = config;
    this.holdfast = holdfast;
    this.assets = assets;
  }

  Frame frame(Request request, String title, String active) {
    TenantName tenant = request.services().tenant().name();
    Visit visit = Visit.of(request.http());
    List<String> tenants = request.mayDo(Role.SYSTEM) ? tenants(tenant) : List.of();
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
        request.services().overview().now(),
        address(request),
        assets.version());
  }

  // A choice of thousands would be slow and useless; other tenants can be typed in.
  private List<String> tenants(TenantName shown) {
    return Stream.concat(
            Stream.of(shown.value()),
            holdfast.tenants().list().stream().map(TenantName::value).sorted().limit(MOST_TENANTS))
        .distinct()
        .sorted()
        .toList();
  }

  static String address(Request request) {
    String query = request.http().queryString();
    return request.http().path() + (query == null ? "" : "?" + query);
  }
}
