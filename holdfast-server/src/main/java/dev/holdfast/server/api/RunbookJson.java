package dev.holdfast.server.api;

import dev.holdfast.api.Json;
import dev.holdfast.executor.NodeAddress;
import dev.holdfast.executor.Runbook;
import tools.jackson.databind.node.ObjectNode;

/** Writes a runbook as JSON. */
final class RunbookJson {

  private RunbookJson() {}

  static ObjectNode write(Runbook book) {
    ObjectNode json = Json.object();
    Json.put(json, "playbook", book.playbook());
    book.node().ifPresentOrElse(node -> json.set("node", node(node)), () -> json.putNull("node"));
    ObjectNode ids = json.putObject("ids");
    book.ids().forEach(ids::put);
    Json.put(json, "executor", book.executor());
    return json;
  }

  static ObjectNode node(NodeAddress node) {
    ObjectNode json = Json.object();
    json.put("id", node.id());
    json.put("host", node.host());
    json.put("port", node.port().orElse(null));
    Json.put(json, "user", node.user());
    Json.put(json, "key_file", node.keyFile());
    Json.put(json, "connection", node.connection());
    return json;
  }
}
