package dev.holdfast.server;

import dev.holdfast.server.http.Proxies;
import dev.holdfast.server.notify.Receivers;
import java.util.Set;

/**
 * Whom a node lets in, whose word it takes, and where it lets itself be sent.
 *
 * @param auth off only on an address that this machine alone can reach
 * @param names that it answers to, beside its own on a machine's own address; none is any
 * @param proxies whose word about where a request came from is taken
 * @param receivers where webhooks may lead
 */
public record Trust(boolean auth, Set<String> names, Proxies proxies, Receivers receivers) {

  static final Trust DEFAULT =
      new Trust(true, Set.of(), new Proxies(Set.of()), new Receivers(Set.of()));

  public Trust {
    names = Set.copyOf(names);
  }
}
