package dev.holdfast.wake;

import dev.holdfast.tenant.SchemaName;
import java.util.Optional;
import java.util.UUID;

/**
 * The NOTIFY channel of one Holdfast database, as one process uses it. Messages name their sender,
 * so that a process does not wake itself twice.
 */
public record Channel(String name, String sender) {

  private static final char SEPARATOR = '@';
  private static final String NOBODY = "";

  public static Channel of(SchemaName control) {
    return new Channel(control.value() + "_wake", UUID.randomUUID().toString());
  }

  String message(String tenant) {
    return tenant + SEPARATOR + sender;
  }

  /**
   * A message that this process hears, too, because it does not see the sending transaction commit.
   */
  String messageToAll(String tenant) {
    return tenant + SEPARATOR + NOBODY;
  }

  /** The tenant of a message from another sender. */
  Optional<String> tenantOf(String message) {
    int end = message.indexOf(SEPARATOR);
    return end < 0 || message.substring(end + 1).equals(sender)
        ? Optional.empty()
        : Optional.of(message.substring(0, end));
  }
}
