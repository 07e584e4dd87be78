package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.rig.RunDatabase;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Route;
import dev.holdfast.tenant.TenantName;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is refused leaves nothing behind: no row of any table, no file. One request after the other,
 * in a database of its own where nobody else stores anything. {@code
 * -Dholdfast.hostile.traced=20000} for more of them.
 */
class HostileTracesTest {

  private static final int REQUESTS = Integer.getInteger("holdfast.hostile.traced", 2_000);
  private static final long SEED = Long.getLong("holdfast.hostile.seed", 20_261_117L);
  private static final TenantName OWN = new TenantName("own_one");
  private static final TenantName OTHER = new TenantName("other_one");

  private static final Set<String> NOT =
      Set.of("GET /api/v1/events"); // answers for as long as somebody listens

  /** Where a request may leave a trace that is not an effect of it. */
  private static final Set<String> TRACES =
      Set.of("holdfast.worker"); // who was last seen when, written a while after it was asked

  /** Forms that take the proof of all others away: by signing out, or by looking elsewhere. */
  private static final Set<String> SIGN_OFF = Set.of("/ui/logout", "/ui/do/look");

  // By which workers of a dialect ask for work, and so take it.
  private static final String PULL = "/api/pull_job";

  @TempDir Path directory;

  private HikariDataSource pool;
  private TestServer server;
  private Journal journal;

  @BeforeEach
  void start() throws Exception {
    pool = RunDatabase.create().pool(10);
    server =
        TestServer.start(
            ServerConfig.defaults(directory)
                .withAddress("127.0.0.1", 0)
                .withRoles(Set.of(ServerRole.WEB))
                .withUpkeep(false),
            pool);
    server.tenants().create(OWN);
    server.tenants().create(OTHER);
    journal = Journal.of(pool);
  }

  @AfterEach
  void stop() {
    server.close();
    pool.close();
  }

  @Test
  @Timeout(value = 2, unit = TimeUnit.HOURS)
  void a_refused_request_stores_nothing_and_neither_does_one_that_only_looks() throws Exception {
    RandomGenerator dice = new SplittableRandom(SEED);
    LivelyTenant.in(server, OWN);
    List<Function<TestServer, Caller>> people = new ArrayList<>();
    for (Role role : Role.values()) {
      people.add(given -> given.as(role, OWN));
    }
    people.add(given -> new Caller(given.port(), Optional.empty(), Optional.of(OWN)));
    people.add(
        given -> new Caller(given.port(), given.as(Role.ADMIN, OTHER).token(), Optional.of(OWN)));
    List<Caller> callers =
        new ArrayList<>(people.stream().map(each -> each.apply(server)).toList());
    HostileRequests requests = new HostileRequests(callers.getFirst(), NOT, OWN, OTHER);
    Map<Integer, Integer> statuses = new TreeMap<>();
    Set<String> stored = new TreeSet<>();
    journal.next();
    Map<Path, FileTime> files = files();

    for (int i = 0; i < REQUESTS; i++) {
      HostileRequests.Made request = requests.next(dice);
      int who = dice.nextInt(callers.size());
      Reply reply = request.by(callers.get(who));
      statuses.merge(reply.status(), 1, Integer::sum);
      requests.heard(request, reply);
      List<String> lines = journal.next();
      Map<Path, FileTime> filesNow = files();
      if (reply.status() >= 400 || (request.method().equals("GET") && !isPull(request))) {
        String what = request + " answers " + reply.status() + " " + reply.text();
        assertThat(lines).as(what).allMatch(HostileTracesTest::isTrace);
        assertThat(filesNow).as(what).isEqualTo(files);
      }
      lines.forEach(line -> stored.add(place(line)));
      files = filesNow;
      if (reply.status() == 401) { // it was revoked, by one of the others
        callers.set(who, people.get(who).apply(server));
        journal.next();
      }
    }

    System.out.printf(
        "Hostile traces: seed %d, %d operations, answers by status %s; stored, by what was not"
            + " refused, in %s%n",
        SEED, requests.operations(), statuses, stored);
    assertThat(statuses).containsKeys(200, 201, 400, 401, 403, 404);
    assertThat(stored).contains("holdfast_own_one.job", "holdfast_own_one.audit");
  }

  @Test
  @Timeout(value = 30, unit = TimeUnit.MINUTES)
  void a_refused_form_of_a_page_stores_nothing() throws Exception {
    RandomGenerator dice = new SplittableRandom(SEED);
    String job = LivelyTenant.in(server, OWN).queued;
    List<Route> forms =
        server.server().routes().stream()
            .filter(route -> route.isPage() && route.method() == Route.Method.POST)
            .filter(route -> !SIGN_OFF.contains(route.path()))
            .toList();
    Map<Integer, Integer> statuses = new TreeMap<>();
    Set<String> stored = new TreeSet<>();
    for (Role role : Role.values()) {
      Visitor visitor = signedIn(role);
      String proof = "_csrf=" + visitor.csrf(server.port(), "/ui/overview");
      for (Route form : forms) {
        for (String proven : List.of("", "_csrf=x", proof, proof, proof)) {
          String sent = proven + fields(form, job, dice);
          journal.next();
          Map<Path, FileTime> files = files();
          int status = visitor.post(server.port(), form.path(), sent).statusCode();
          List<String> lines = journal.next();
          statuses.merge(status, 1, Integer::sum);
          if (status >= 400) {
            String what = "%s %s %s answers %d".formatted(role, form, sent, status);
            assertThat(lines).as(what).allMatch(HostileTracesTest::isTrace);
            assertThat(files()).as(what).isEqualTo(files);
          }
          lines.forEach(line -> stored.add(place(line)));
        }
      }
    }

    System.out.printf(
        "Hostile forms: %d forms, answers by status %s; stored, by what was not refused, in %s%n",
        forms.size(), statuses, stored);
    assertThat(forms).hasSizeGreaterThan(25);
    assertThat(statuses).containsKeys(303, 400, 403, 404);
    assertThat(stored).contains("holdfast_own_one.job", "holdfast_own_one.audit");
  }

  private Visitor signedIn(Role role) {
    Visitor visitor = new Visitor();
    String token = server.token(role, Optional.of(OWN));
    String proof = visitor.csrf(server.port(), "/ui/login");
    var in = visitor.post(server.port(), "/ui/login", "_csrf=%s&token=%s".formatted(proof, token));
    assertThat(in.statusCode()).isEqualTo(303);
    return visitor;
  }

  // Half of what has an id is about a job that is there.
  private static String fields(Route form, String job, RandomGenerator dice) {
    StringBuilder all = new StringBuilder();
    for (String field : new TreeSet<>(form.fields())) {
      boolean isJob = field.equals("id") && dice.nextBoolean();
      String text =
          isJob ? job : HostileRequests.TEXTS.get(dice.nextInt(HostileRequests.TEXTS.size()));
      if (isJob || dice.nextInt(3) > 0) {
        all.append('&').append(field).append('=').append(URLEncoder.encode(text, UTF_8));
      }
    }
    return all.toString();
  }

  private static boolean isPull(HostileRequests.Made request) {
    return request.path().contains(PULL);
  }

  private static boolean isTrace(String line) {
    return TRACES.contains(place(line));
  }

  private static String place(String line) {
    return line.split(" ", 3)[1];
  }

  private Map<Path, FileTime> files() throws IOException {
    Map<Path, FileTime> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        files.put(file, Files.getLastModifiedTime(file));
      }
    }
    return files;
  }

  /** Whoever looks for nothing finds nothing: each of these is seen. */
  @Test
  void what_is_stored_of_each_sort_is_noticed() throws Exception {
    Caller system = server.as(Role.SYSTEM, OWN);
    Map<String, List<String>> sorts = new TreeMap<>();
    sorts.put(
        "schedule", List.of("PUT", "schedules/s", "{\"cron\": \"0 3 * * *\", \"kind\": \"a\"}"));
    sorts.put(
        "webhook",
        List.of(
            "PUT",
            "webhooks/w",
            "{\"url\": \"https://example.org/x\", \"events\": [\"job_failed\"],"
                + " \"secret\": \"a secret of two dozen letters\"}"));
    sorts.put("setting", List.of("PUT", "settings/TOKEN_LIMIT", "{\"value\": 5}"));
    sorts.put("queue", List.of("PUT", "queues/q", "{\"paused\": true}"));
    sorts.put("kind", List.of("PUT", "kinds/k", "{\"node_targeted\": true}"));
    sorts.put("node", List.of("PUT", "nodes/n", "{\"host\": \"example.org\"}"));
    sorts.put("token", List.of("POST", "tokens", "{\"name\": \"t\", \"role\": \"viewer\"}"));
    sorts.put("resource", List.of("PUT", "resources/r", "{\"capacity\": 2}"));
    sorts.put("tenant", List.of("POST", "tenants", "{\"name\": \"another_one\"}"));
    sorts.put("job", List.of("POST", "jobs", "{\"kind\": \"a\"}"));
    journal.next();

    for (Map.Entry<String, List<String>> sort : sorts.entrySet()) {
      List<String> ask = sort.getValue();
      Reply reply = system.send(ask.get(0), "/api/v1/" + ask.get(1), Optional.of(ask.get(2)));

      assertThat(reply.status()).as(reply.text()).isLessThan(300);
      assertThat(journal.next())
          .anyMatch(line -> place(line).endsWith("." + sort.getKey()) && !isTrace(line));
    }
  }
}
