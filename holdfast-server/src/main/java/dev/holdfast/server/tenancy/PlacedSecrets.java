package dev.holdfast.server.tenancy;

import dev.holdfast.error.HoldfastException;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * Leaves it to a kind where the secrets that it names go in a call. Its jobs could have them sent
 * in a place that the called host shows or keeps.
 */
final class PlacedSecrets {

  private PlacedSecrets() {}

  /** Refuses arguments that mention a secret of the kind's. */
  static void require(JsonNode fixed, JsonNode said) {
    List<String> mentions =
        fixed.path("secrets").valueStream().map(name -> "${" + name.asString("") + "}").toList();
    refuse(mentions, "args.body", said.path("body"));
    for (Map.Entry<String, JsonNode> header : said.path("headers").properties()) {
      refuse(mentions, "args.headers." + header.getKey(), header.getValue());
    }
  }

  private static void refuse(List<String> mentions, String field, JsonNode value) {
    String text = value.asString("");
    for (String mention : mentions) {
      if (text.contains(mention)) {
        throw HoldfastException.invalid(
            field, "a text with " + mention, "texts without: the kind says where its secrets go");
      }
    }
  }
}
