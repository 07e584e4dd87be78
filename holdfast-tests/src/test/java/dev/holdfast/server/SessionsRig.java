package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.net.http.HttpResponse;
import java.util.Optional;
import org.junit.jupiter.api.extension.RegisterExtension;

/** People who are signed in to a tenant. */
abstract class SessionsRig {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  static int port() {
    return TestServer.shared().port();
  }

  Visitor signedIn(Role role) {
    Visitor visitor = new Visitor();
    String token = TestServer.shared().token(role, Optional.of(tenant.name()));
    String csrf = visitor.csrf(port(), "/ui/login");
    HttpResponse<String> in =
        visitor.post(port(), "/ui/login", "_csrf=%s&token=%s".formatted(csrf, token));
    assertThat(in.statusCode()).isEqualTo(303);
    return visitor;
  }
}
