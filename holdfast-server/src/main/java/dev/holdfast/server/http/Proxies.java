package dev.holdfast.server.http;

import dev.holdfast.error.HoldfastException;
import java.net.InetSocketAddress;
import java.util.Set;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.server.ForwardedRequestCustomizer;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.InetAddressSet;

/**
 * Believes {@code Forwarded} and {@code X-Forwarded-…} of those who are trusted to set them. From
 * anybody else they are words: a client could give itself any name and address with them.
 */
public final class Proxies implements HttpConfiguration.Customizer {

  private final InetAddressSet trusted = new InetAddressSet();
  private final ForwardedRequestCustomizer forwarded = new ForwardedRequestCustomizer();

  /**
   * Trusts these.
   *
   * @param addresses or networks, like {@code 10.0.0.0/8}
   */
  public Proxies(Set<String> addresses) {
    for (String address : addresses) {
      try {
        trusted.add(address);
      } catch (IllegalArgumentException e) {
        throw HoldfastException.badConfig(
            "trusted proxies", address, "addresses or networks, like 10.0.0.5 or 10.0.0.0/8");
      }
    }
  }

  @Override
  public Request customize(Request request, HttpFields.Mutable answer) {
    return request.getConnectionMetaData().getRemoteSocketAddress() instanceof InetSocketAddress at
            && trusted.test(at.getAddress())
        ? forwarded.customize(request, answer)
        : request;
  }
}
