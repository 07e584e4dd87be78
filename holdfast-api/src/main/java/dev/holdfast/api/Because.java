package dev.holdfast.api;

import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/**
 * Why a caller acts. The server knows by the token who it is.
 *
 * @param force whether the act may also be done where the caller has to answer for it
 */
public record Because(Optional<String> reason, boolean force) {

  /** No reason, without force. */
  public static final Because NOTHING = new Because(Optional.empty(), false);

  public static Because of(String reason) {
    return new Because(Optional.of(reason), false);
  }

  public Because withForce() {
    return new Because(reason, true);
  }

  ObjectNode json() {
    ObjectNode json = Json.object().put("force", force);
    reason.ifPresent(text -> json.put("reason", text));
    return json;
  }
}
