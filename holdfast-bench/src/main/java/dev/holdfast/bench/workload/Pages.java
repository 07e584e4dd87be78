package dev.holdfast.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.bench.contender.Backlog;
import dev.holdfast.bench.contender.Pools;
import dev.holdfast.bench.contender.Role;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Durations;
import dev.holdfast.bench.measure.Finding;
import dev.holdfast.bench.measure.NotApplicable;
import dev.holdfast.bench.measure.Sample;
import dev.holdfast.queue.JobFilter;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.ServerRole;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * UI: how long each page of the dashboard takes with five million jobs, half of them waiting and
 * half finished: from the request to its last byte, on a node that has served it before.
 */
public final class Pages implements Workload {

  private static final int JOBS = 5_000_000;
  private static final int LEAST_JOBS = 100_000;
  private static final int WARM_UPS = 8;
  private static final int LOOKS = 20;

  @Override
  public List<? extends Finding> run(Bench bench) throws Exception {
    if (bench.contender().role() != Role.OURS) {
      return List.of(new NotApplicable("UI pages", "has no dashboard, or another"));
    }
    int half = bench.jobs(JOBS, LEAST_JOBS) / 2;
    bench.prepare(queue -> {
      queue.fill(Backlog.FINISHED, half);
      queue.fill(Backlog.SAME, half);
      return half;
    });
    ServerConfig config =
        ServerConfig.defaults(Files.createTempDirectory("holdfast-bench"))
            .withAuth(false)
            .withAddress("127.0.0.1", 0)
            .withRoles(Set.of(ServerRole.WEB));
    try (HikariDataSource pool = Pools.open(bench.server().jdbcUrl(), 20);
        HoldfastServer server = HoldfastServer.start(config, pool, Map.of())) {
      return look(server.port().orElseThrow(), pages(Holdfast.on(pool)));
    }
  }

  private static Map<String, String> pages(Holdfast holdfast) {
    String job =
        holdfast.jobs().list(JobFilter.ALL, Optional.empty(), 1).jobs().getFirst().id().toString();
    Map<String, String> pages = new LinkedHashMap<>();
    pages.put("overview", "/ui/overview");
    pages.put("jobs", "/ui/jobs");
    pages.put("jobs, a state that none is in", "/ui/jobs?state=paused");
    pages.put("jobs, failed with a text", "/ui/jobs?state=failed&error=nowhere");
    pages.put("a job", "/ui/jobs/" + job);
    for (String name :
        List.of("queues", "resources", "schedules", "workers", "notifications", "audit")) {
      pages.put(name, "/ui/" + name);
    }
    return pages;
  }

  private static List<Finding> look(int port, Map<String, String> pages) throws Exception {
    HttpClient http = HttpClient.newHttpClient();
    List<Finding> findings = new ArrayList<>();
    for (Map.Entry<String, String> page : pages.entrySet()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + page.getValue())).build();
      Durations took = new Durations();
      int bytes = 0;
      for (int i = 0; i < WARM_UPS + LOOKS; i++) {
        long began = System.nanoTime();
        HttpResponse<byte[]> answer = http.send(request, BodyHandlers.ofByteArray());
        if (answer.statusCode() != 200) {
          throw new IllegalStateException(page + " answers " + answer.statusCode());
        }
        if (i >= WARM_UPS) {
          took.add(System.nanoTime() - began);
        }
        bytes = answer.body().length;
      }
      findings.add(Sample.of("UI " + page.getKey() + ", p50", "ms", took.millisAt(0.5)));
      findings.add(Sample.of("UI " + page.getKey() + ", slowest", "ms", took.millisAt(1)));
      findings.add(Sample.of("UI " + page.getKey() + ", page alone", "kB", bytes / 1e3));
    }
    return findings;
  }
}
