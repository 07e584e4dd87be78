package dev.holdfast.api;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Item;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Payload;
import dev.holdfast.lease.Report;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The report of a running attempt as JSON. */
public final class ReportJson {

  private static final Set<String> ITEM = Set.of("key", "data");
  private static final long MOST_TOKENS = 1L << 40; // in one report, so that sums stay in range

  private ReportJson() {}

  /** Writes a report as {@link #read} reads it. */
  static ObjectNode write(Report report) {
    ObjectNode json = JobJson.progress(report.progress());
    report.logLines().forEach(json.putArray("lines")::add);
    json.putObject("usage")
        .put("input_tokens", report.inputTokens())
        .put("output_tokens", report.outputTokens());
    ArrayNode items = json.putArray("items");
    for (Item item : report.items()) {
      items
          .addObject()
          .put("key", item.key())
          .set("data", Json.parse("items.data", item.data().json()));
    }
    report.idempotencyKey().ifPresent(key -> json.put("idempotency_key", key));
    return json;
  }

  public static Report read(Fields said) {
    Optional<Fields> usage = said.optionalObject("usage");
    usage.ifPresent(used -> used.only(Set.of("tokens", "input_tokens", "output_tokens")));
    return new Report(
        JobJson.progress(said),
        lines(said),
        tokens(usage, "input_tokens") + tokens(usage, "tokens"),
        tokens(usage, "output_tokens"),
        said.objects("items").stream().map(ReportJson::item).toList(),
        said.optionalText("idempotency_key"));
  }

  public static List<String> lines(Fields said) {
    List<String> lines = said.texts("lines");
    if (lines.size() > Limits.LOG_LINES_PER_REPORT) {
      throw HoldfastException.invalid(
          "lines", lines.size() + " lines", "at most " + Limits.LOG_LINES_PER_REPORT);
    }
    return lines;
  }

  private static long tokens(Optional<Fields> usage, String name) {
    long tokens = usage.flatMap(used -> used.optionalNumber(name)).orElse(0L);
    if (tokens < 0 || tokens > MOST_TOKENS) {
      throw HoldfastException.invalid("usage." + name, tokens, "0 to " + MOST_TOKENS);
    }
    return tokens;
  }

  // An item is its whole object; or its data, if it has nothing but a key and data.
  private static Item item(Fields said) {
    boolean wrapped = Set.copyOf(said.json().propertyNames()).equals(ITEM);
    return new Item(
        said.text("key"), new Payload(Json.write(wrapped ? said.json().get("data") : said.json())));
  }
}
