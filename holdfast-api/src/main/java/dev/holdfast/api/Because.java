package dev.holdfast.api;

import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/**
 * Why somebody acts. Who it is, the server knows by the token.
 *
 * @param force also where it takes somebody to answer for it
 */
public record Because(Optional<String> reason, boolean force) {

  /** Nothing more to say. */
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
