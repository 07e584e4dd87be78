package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.server.ExecutorSettings;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.ServerRole;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every command, sent to a live server by the words that people type. */
class EveryCommandTest {

  private static final Pattern ID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
  private static final String QUEUE = "every_command";

  @TempDir private static Path data;
  private static HoldfastServer server;

  private final String tenant = "every_" + UUID.randomUUID().toString().substring(0, 8);
  private final Set<String> used = new TreeSet<>();

  @BeforeAll
  static void start() {
    server =
        HoldfastServer.start(
            ServerConfig.defaults(data)
                .withAddress("127.0.0.1", 0)
                .withRoles(Set.of(ServerRole.WEB, ServerRole.WORKER))
                .withExecutors(
                    new ExecutorSettings(Set.of("process"), Set.of(QUEUE), ExecutorConfig.DEFAULTS))
                .withUpkeep(false),
            TestDatabase.shared().dataSource(),
            Map.of());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void every_command_is_answered() {
    assertThat(say("tenants create " + tenant)).contains(tenant);
    assertThat(say("tenants list")).contains(tenant);
    jobs();
    whatJobsNeed();
    schedules();
    registry();
    administration();
    commandsAsJobs();
    assertThat(say("tenants drop " + tenant)).doesNotContain("holdfast:");

    Set<String> all =
        Verbs.all().stream()
            .map(verb -> String.join(" ", verb.words()))
            .collect(Collectors.toSet());
    assertThat(used).containsAll(all).contains("run", "jobs logs", "jobs wait");
  }

  private void jobs() {
    String first = enqueue("--tags one,two --target t1");
    assertThat(say("jobs list --state queued")).contains(first, "STATE");
    assertThat(say("jobs show " + first)).contains("one,two");
    assertThat(say("jobs why " + first)).contains("no_worker");
    assertThat(say("jobs change " + first + " --priority -3")).contains("-3");
    assertThat(say("jobs pause " + first + " --reason lunch")).contains("paused");
    assertThat(say("jobs resume " + first)).contains("queued");
    assertThat(say("jobs fail " + first + " --force")).contains("failed");
    assertThat(say("jobs retry " + first)).contains("queued");
    assertThat(say("jobs stop " + first)).contains("cancelled");
    assertThat(say("jobs requeue " + first + " --force")).contains("queued");
    assertThat(say("jobs cancel " + first)).contains("cancelled");
    assertThat(say("jobs attempts " + first)).contains("ATTEMPT");
    assertThat(say("jobs logs " + first)).isEmpty();
    assertThat(say("jobs delete " + first)).doesNotContain("holdfast:");
    String second = enqueue("");
    assertThat(say("jobs pause " + second)).contains("paused");
    assertThat(say("jobs resolve " + second + " --result {\"by\":\"hand\"}")).contains("succeeded");
    assertThat(say("jobs wait " + second + " -o json")).contains("\"state\":\"succeeded\"");
    String third = enqueue("");
    assertThat(say("jobs each cancel --kind sort --dry-run")).contains(third, "would");
    assertThat(say("audit list")).contains("lunch", "resolve");
    assertThat(say("invariants check")).contains("(none)");
  }

  private String enqueue(String more) {
    return id(say(("enqueue sort --args {\"n\":1} " + more).strip()));
  }

  private void whatJobsNeed() {
    assertThat(say("queues set mail --paused true --concurrency-limit 3")).contains("3");
    assertThat(say("queues list")).contains("mail");
    assertThat(say("queues show mail")).contains("true");
    assertThat(say("resources set site:1 --capacity 2")).contains("2");
    assertThat(say("resources list")).contains("site:1");
    assertThat(say("resources show site:1")).contains("site:1");
    assertThat(say("resources release site:1 --reason done")).doesNotContain("holdfast:");
    id(say("enqueue sort --subject {\"type\":\"site\",\"id\":\"1\"} --site-id 1"));
    assertThat(answer("subjects show site 9").err()).contains("9"); // no job of it has begun
  }

  private void schedules() {
    assertThat(say("schedules set nightly --every-seconds 3600 --kind brief")).contains("3600");
    assertThat(say("schedules list")).contains("nightly");
    assertThat(say("schedules show nightly")).contains("brief");
    assertThat(say("schedules next nightly --count 3")).contains("Z");
    assertThat(say("schedules trigger nightly --reason now")).contains("brief");
    assertThat(say("schedules slots nightly")).contains("SCHEDULED_FOR");
    assertThat(say("schedules disable nightly")).contains("false");
    assertThat(say("schedules enable nightly")).contains("true");
    assertThat(say("schedules delete nightly")).doesNotContain("holdfast:");
  }

  private void registry() {
    assertThat(say("workers list")).contains("NAME");
    assertThat(answer("workers drain nobody").code()).isEqualTo(Exit.NOT_FOUND.code());
    assertThat(answer("workers resume nobody").code()).isEqualTo(Exit.NOT_FOUND.code());
    assertThat(
            say(
                "kinds set greet --executor process"
                    + " --settings {\"argv\":[\"/bin/echo\",\"{who}\"]}"))
        .contains("{who}");
    assertThat(say("kinds list")).contains("greet");
    assertThat(say("kinds show greet")).contains("/bin/echo");
    assertThat(answer("kinds show gret").err()).contains("Did you mean greet?");
    assertThat(say("nodes set 7 --host 10.0.0.7")).contains("10.0.0.7");
    assertThat(say("nodes list")).contains("10.0.0.7");
    assertThat(say("nodes show 7")).contains("10.0.0.7");
    assertThat(say("nodes delete 7")).doesNotContain("holdfast:");
  }

  private void administration() {
    assertThat(say("settings set TOKEN_LIMIT 9000")).contains("9000");
    assertThat(say("settings list")).contains("TOKEN_LIMIT");
    assertThat(say("webhooks set ops --url https://example.org/x --events job_failed --secret s3"))
        .contains("example.org");
    assertThat(say("webhooks list")).contains("ops").doesNotContain("s3");
    assertThat(say("webhooks delete ops")).doesNotContain("holdfast:");
    assertThat(say("pull-secret set --secret " + "s".repeat(40))).doesNotContain("sss");
    assertThat(say("pull-secret delete")).doesNotContain("holdfast:");
    String token = id(say("tokens create ci --role viewer"));
    assertThat(say("tokens list")).contains(token);
    assertThat(say("tokens revoke " + token)).doesNotContain("holdfast:");
  }

  private void commandsAsJobs() {
    Answer ran = answer("run --queue " + QUEUE, "--", "sh", "-c", "echo to people; exit 3");
    assertThat(ran.code()).isEqualTo(3);
    assertThat(ran.out()).isEqualTo("to people\n");
    String id = id(say("run --detach --queue " + QUEUE, "--", "echo", "later"));
    assertThat(say("jobs wait " + id + " --timeout 60")).contains("succeeded");
    assertThat(say("jobs logs " + id + " -f -o json")).contains("\"line\":\"later\"");
    String greeting = id(say("enqueue greet --args {\"who\":\"ada\"} --queue " + QUEUE));
    assertThat(say("jobs wait " + greeting + " --timeout 60")).contains("succeeded");
    assertThat(say("jobs logs " + greeting)).isEqualTo("ada\n");
  }

  @Test
  void what_is_nearly_right_is_answered_with_what_was_meant() {
    assertThat(answer("jbos list").err()).contains("jobs").contains("--help");
    assertThat(answer("jobs lst").err()).contains("jobs list");
    assertThat(answer("jobs list --stat queued").err()).contains("--state");
    assertThat(answer("jobs list --state runing").err()).contains("Did you mean running?");
    assertThat(answer("jobs each cancle --kind a").err()).contains("Did you mean cancel?");
    assertThat(answer("tokens create x --role viewr").err()).contains("Did you mean viewer?");
    assertThat(answer("jobs list --state runing").code()).isEqualTo(Exit.REFUSED.code());
    assertThat(answer("jobs lst").code()).isEqualTo(Exit.USAGE.code());
    say("tenants create " + tenant); // whose settings are looked through
    try {
      assertThat(answer("settings set TOKEN_LIMT 1").err()).contains("Did you mean TOKEN_LIMIT?");
    } finally {
      say("tenants drop " + tenant);
    }
  }

  @Test
  void words_from_elsewhere_cannot_take_over_a_terminal() {
    say("tenants create " + tenant);
    try {
      assertThat(answer("enqueue", "\u001b[2Jgone\u0007").err())
          .contains("?[2Jgone?")
          .doesNotContain("\u001b", "\u0007");
    } finally {
      say("tenants drop " + tenant);
    }
  }

  @Test
  void a_word_that_begins_with_an_at_sign_is_the_jobs_own() throws IOException {
    Path words = Files.writeString(data.resolve("words"), "from a file");
    say("tenants create " + tenant);
    try {
      String id = id(say("run --detach", "--", "echo", "@" + words, "@@both"));

      assertThat(say("jobs show " + id + " -o json"))
          .contains("\"echo\",\"@" + words + "\",\"@@both\"");
    } finally {
      say("tenants drop " + tenant);
    }
  }

  private record Answer(int code, String out, String err) {}

  private String say(String words, String... last) {
    Answer answer = answer(words, last);
    assertThat(answer.err()).as(words).isEmpty();
    assertThat(answer.code()).as(words).isZero();
    return answer.out();
  }

  private Answer answer(String words, String... last) {
    List<String> typed = new ArrayList<>(List.of(words.split(" ", -1)));
    typed.stream()
        .takeWhile(word -> !word.startsWith("-"))
        .limit(2)
        .reduce((a, b) -> a + " " + b)
        .ifPresent(used::add);
    used.add(typed.getFirst());
    List<String> where =
        List.of(
            "--server",
            "http://127.0.0.1:" + server.port().orElseThrow(),
            "--token-file",
            data.resolve("admin.token").toString());
    List<String> whose = words.startsWith("tenants") ? List.of() : List.of("--tenant", tenant);
    String[] all =
        Stream.of(typed, where, whose, Arrays.asList(last))
            .flatMap(List::stream)
            .toArray(String[]::new);
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code =
        Main.commandLine()
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true))
            .execute(all);
    return new Answer(code, out.toString(), err.toString());
  }

  private static String id(String text) {
    Matcher found = ID.matcher(text);
    assertThat(found.find()).as(text).isTrue();
    return found.group();
  }
}
