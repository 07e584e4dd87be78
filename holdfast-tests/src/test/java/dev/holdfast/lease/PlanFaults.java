package dev.holdfast.lease;

import dev.holdfast.CoreStatement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What is wrong with a plan: whether it reads more of a table than the statement is about. */
final class PlanFaults {

  private static final double COMPILED_AT_COST = 100_000; // jit_above_cost, by default

  // Which indexes may lead a statement to the rows of job.
  private static final Map<String, Set<String>> INDEXES =
      Map.of(
          "Claims.CLAIM", Set.of("job_claimable", "job_pkey", "job_leased"),
          "Beats.EXTEND", Set.of("job_pkey"),
          "Successes.SUCCEED", Set.of("job_pkey"),
          "Transitions.FINISH", Set.of("job_pkey"),
          "Transitions.SEND_BACK", Set.of("job_pkey"),
          "OverdueAttempts.OVERDUE", Set.of("job_leased"),
          "Outlook.LOOK", Set.of("job_leased", "job_waiting"),
          "TenantRotation.HAS_WORK", Set.of("job_claimable"));

  private PlanFaults() {}

  static List<String> in(CoreStatement statement, String json) {
    List<String> faults = new ArrayList<>();
    JsonNode plan = JsonMapper.shared().readTree(json).get(0).get("Plan");
    if (plan.path("Total Cost").asDouble() >= COMPILED_AT_COST) {
      faults.add("seems so expensive that the server compiles it, every time");
    }
    nodes(plan)
        .forEach(node -> {
          String type = node.path("Node Type").asString("");
          String table = node.path("Relation Name").asString("");
          if (type.equals("Seq Scan") && grows(table)) {
            faults.add("reads all of " + table);
          }
          if ((type.equals("Hash Join") || type.equals("Merge Join")) && joinsAllJobs(node)) {
            faults.add(type + " over job");
          }
          // The others lock one by one before they write; these lock as they meet the rows.
          if (type.equals("Bitmap Heap Scan")
              && table.equals("job")
              && Set.of("Successes.SUCCEED", "Transitions.FINISH", "Waiting.WAKE")
                  .contains(statement.toString())) {
            faults.add("takes row locks in the order of pages, not of ids");
          }
          String index = node.path("Index Name").asString("");
          if (index.equals("job_pkey") && !node.has("Index Cond")) {
            faults.add("walks all of job_pkey");
          }
          Set<String> allowed = INDEXES.get(statement.toString());
          if (allowed != null && index.startsWith("job_") && !allowed.contains(index)) {
            faults.add("uses " + index);
          }
          if (index.equals("job_waiting") && node.path("Index Cond").asString("").contains("ANY")) {
            faults.add("reads all who wait for some resources");
          }
          if (index.equals("job_claimable")
              && !node.path("Index Cond").asString("").contains("lane")) {
            faults.add("walks job_claimable across lanes");
          }
        });
    return faults;
  }

  private static boolean grows(String table) {
    return Set.of("job", "job_done", "resource", "hold").contains(table);
  }

  // A join may well take the few rows that an index found; what it must not do is take them all.
  private static boolean joinsAllJobs(JsonNode join) {
    return children(join)
        .flatMap(PlanFaults::nodes)
        .anyMatch(node ->
            node.path("Relation Name").asString("").equals("job")
                && !node.has("Index Cond")
                && !node.has("Recheck Cond")
                // All that run: as many as the workers have permits, whatever waits beside them.
                && !node.path("Index Name").asString("").equals("job_leased")
                && node.path("Node Type").asString("").endsWith("Scan"));
  }

  private static Stream<JsonNode> nodes(JsonNode plan) {
    return Stream.concat(Stream.of(plan), children(plan).flatMap(PlanFaults::nodes));
  }

  private static Stream<JsonNode> children(JsonNode plan) {
    List<JsonNode> plans = new ArrayList<>();
    plan.path("Plans").forEach(plans::add);
    return plans.stream();
  }
}
