package dev.holdfast.server;

import dev.holdfast.server.http.Proxies;
import dev.holdfast.server.notify.Receivers;
import java.util.Set;

/**
 * Whom a node trusts: callers, host names, proxies, and receivers of webhooks.
 *
 * @param auth whether callers must authenticate; off only on a loopback address
 * @param names host names that it answers to; on a loopback address in addition to the machine's
 *     own, elsewhere none allows any
 * @param proxies proxies whose headers about the origin of a request are trusted
 * @param receivers addresses that webhooks may call
 */
public record Trust(boolean auth, Set<String> names, Proxies proxies, Receivers receivers) {

  static final Trust DEFAULT =
      new Trust(true, Set.of(), new Proxies(Set.of()), new Receivers(Set.of()));

  public Trust {
    names = Set.copyOf(names);
  }
}
