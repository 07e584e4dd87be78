package dev.holdfast.server.http;

import java.net.InetSocketAddress;
import java.util.Set;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.server.ForwardedRequestCustomizer;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.Request;

/**
 * Applies {@code Forwarded} and {@code X-Forwarded-…} headers from trusted proxies only. With them,
 * any other client could give itself any name and address.
 */
public final class Proxies implements HttpConfiguration.Customizer {

  private final Networks trusted;
  private final ForwardedRequestCustomizer forwarded = new ForwardedRequestCustomizer();

  /**
   * Trusts the proxies with these addresses.
   *
   * @param addresses addresses or networks, like {@code 10.0.0.0/8}
   */
  public Proxies(Set<String> addresses) {
    this.trusted = new Networks("trusted-proxies", addresses);
  }

  @Override
  public Request customize(Request request, HttpFields.Mutable answer) {
    return request.getConnectionMetaData().getRemoteSocketAddress() instanceof InetSocketAddress at
            && trusted.contain(at.getAddress())
        ? forwarded.customize(request, answer)
        : request;
  }
}
