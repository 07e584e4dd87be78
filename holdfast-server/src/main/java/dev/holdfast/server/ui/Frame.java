package dev.holdfast.server.ui;

import dev.holdfast.server.auth.Role;
import java.time.Instant;
import java.util.List;

/**
 * What is around every page.
 *
 * @param active which entry of the menu it belongs to
 * @param tenants those that one can look at instead; none for somebody who belongs to one
 * @param csrf proves that a form is from here
 * @param message what was just done
 * @param address its own, for coming back
 * @param assets tells one version of scripts and styles from the next
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
