package dev.holdfast.api;

import dev.holdfast.doctor.Finding;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The findings of a doctor as JSON. */
public final class FindingJson {

  private FindingJson() {}

  /** Writes all findings, and the worst level. */
  public static ObjectNode write(List<Finding> findings) {
    ObjectNode json = Json.object().put("level", stored(Finding.worst(findings)));
    ArrayNode list = json.putArray("findings");
    findings.forEach(finding -> {
      ObjectNode one = list.addObject();
      one.put("check", finding.check());
      one.put("level", stored(finding.level()));
      one.put("detail", finding.detail());
      one.put("remedy", finding.remedy().orElse(null));
    });
    return json;
  }

  public static List<Finding> read(ObjectNode json) {
    return Fields.of("answer", json).objects("findings").stream()
        .map(one ->
            new Finding(
                one.text("check"),
                Finding.Level.valueOf(one.text("level").toUpperCase(Locale.ROOT)),
                one.text("detail"),
                one.optionalText("remedy")))
        .toList();
  }

  private static String stored(Finding.Level level) {
    return level.name().toLowerCase(Locale.ROOT);
  }
}
