package dev.holdfast.server.ui;

import dev.holdfast.server.auth.Role;
import java.time.Instant;
import java.util.List;

/**
 * What surrounds every page.
 *
 * @param active the entry of the menu that the page belongs to
 * @param tenants the tenants that the visitor can switch to; empty for a token of one tenant
 * @param csrf proves that a form comes from this page
 * @param message what was just done
 * @param address the address of the page, for coming back
 * @param assets the version of scripts and styles
 */
record Frame(
    String title,
    String active,
    String tenant,
    List<String> tenants,
    boolean auth,
    String who,
    Role role,
    String csrf,
    String theme,
    String message,
    Instant now,
    String address,
    String assets) {

  boolean mayOperate() {
    return role.mayDo(Role.OPERATOR);
  }

  boolean mayAdminister() {
    return role.mayDo(Role.ADMIN);
  }

  boolean isSystem() {
    return role.mayDo(Role.SYSTEM);
  }

  boolean seesArgs() {
    return role.mayDo(Role.SUBMITTER) || role.mayDo(Role.WORKER);
  }

  String current(String entry) {
    return entry.equals(active) ? "page" : "false";
  }
}
